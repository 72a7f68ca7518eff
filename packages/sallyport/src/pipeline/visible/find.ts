import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { Role } from '../../../api/schemas/capability-token.ts';
import type { ToolActivation } from '../../../api/schemas/visibility.ts';
import type { Principal } from '../../domain/principal/principal.ts';
import { type Block, blockedFailure } from '../../mcp-servers/quarantine.ts';
import { unknownTool } from '../../registry/registry.ts';
import type { ViewEntry } from '../../visibility/resolve-view.ts';
import { activationFor, type TenantRules, viewOf } from '../../visibility/visibility.ts';
import type { Asking, Find, FoundTool, VisibleToolsParts } from './seen-tool.ts';
import type { VisibleToolsOfTenants } from './tools-of-tenant.ts';

const SEE_ALL: readonly Role[] = ['operator', 'admin'];

/** True when neither activations nor views narrow what the caller sees: it manages tools, and is no agent. */
export function seesAll({ roles }: Principal): boolean {
  return !roles.includes('agent') && roles.some((role) => SEE_ALL.includes(role));
}

/** Finds tools for calls. A tenant without rules costs one look-up besides the registry's own. */
export function finder(parts: VisibleToolsParts, byTenant: VisibleToolsOfTenants): Find {
  const { registry, visibility, quarantine } = parts;
  const unblocked = (found: FoundTool | Failure, name: string): FoundTool | Failure => {
    if (isFailure(found)) return found;
    const { tenantId, manifest } = found.tool;
    const block = quarantine.blocks(tenantId, manifest.tool_id);
    if (block !== undefined) return blockedFor(name, manifest.tool_id, block);
    const served = quarantine.supersededBy(tenantId, manifest.tool_id, manifest.version);
    return served === undefined ? found : supersededFor(name, manifest.version, served);
  };
  return ({ principal }, name, range) => {
    const rules = visibility.rulesOf(principal.tenantId);
    const found =
      rules === undefined
        ? registry.find(principal.tenantId, name, range)
        : findByRules(parts, byTenant, rules, { principal, name, range });
    return unblocked(found, name);
  };
}

/** The id that a name means: the tool's own id when a view of the caller renames it, else the name itself. */
export function idResolver(
  parts: VisibleToolsParts,
  byTenant: VisibleToolsOfTenants,
): (asking: Asking, name: string) => string {
  return ({ principal }, name) => {
    const rules = parts.visibility.rulesOf(principal.tenantId);
    if (rules === undefined || seesAll(principal)) return name;
    const view = viewOf(rules, principal.agentDid);
    const entry = view === undefined ? undefined : byTenant.of(principal.tenantId).applied(view).entries.get(name);
    return entry?.tool.manifest.tool_id ?? name;
  };
}

/**
 * The name by which the caller knows the tool of an id; undefined when a view of the caller does not show it. The id
 * itself may be a name of another tool there.
 */
export function nameResolver(
  parts: VisibleToolsParts,
  byTenant: VisibleToolsOfTenants,
): (asking: Asking, toolId: string) => string | undefined {
  return ({ principal }, toolId) => {
    const rules = parts.visibility.rulesOf(principal.tenantId);
    const view = rules === undefined || seesAll(principal) ? undefined : viewOf(rules, principal.agentDid);
    if (view === undefined) return toolId;
    const entries = byTenant.of(principal.tenantId).applied(view).entries.values();
    return entries.find(({ tool }) => tool.manifest.tool_id === toolId)?.name;
  };
}

/** A caller who knows the tool by a view's name learns neither its upstream nor its name there. */
function blockedFor(name: string, toolId: string, block: Block): Failure {
  const blocked = blockedFailure(name, block);
  if (name === toolId) return blocked;
  if (block.reason === 'absent') return unknownTool(name);
  return { ...blocked, details: { tool_id: name, reason: block.reason, reached: false } };
}

/** What an earlier version says, and what a person approves by it, is not what the server would do. */
const supersededFor = (name: string, version: string, served: string): Failure =>
  failure(
    'E3006',
    `Version ${version} of ${name} does not run any more: its server serves version ${served}. Ask for that one, or leave the version out.`,
    { details: { tool_id: name, version: served, reached: false } },
  );

interface Wanted {
  readonly principal: Principal;
  readonly name: string;
  readonly range: string | undefined;
}

function findByRules(
  parts: VisibleToolsParts,
  byTenant: VisibleToolsOfTenants,
  rules: TenantRules,
  { principal, name, range }: Wanted,
): FoundTool | Failure {
  const { tenantId, agentDid } = principal;
  const free = seesAll(principal);
  const view = free ? undefined : viewOf(rules, agentDid);
  const entry = view === undefined ? undefined : byTenant.of(tenantId).applied(view).entries.get(name);
  if (view !== undefined && entry === undefined) return unknownTool(name);
  const toolId = entry?.tool.manifest.tool_id ?? name;
  const activation = activationFor(rules, principal, toolId);
  if (activation?.enabled === false && !free) return unknownTool(name);
  const found = findAvailable(parts, rules, tenantId, toolId, range);
  if (isFailure(found)) {
    // Does not reveal which versions exist.
    if (entry?.rule?.content_hash !== undefined && found.code !== 'E3001') return onlyPinned(name);
    return named(found, toolId, name, free ? rules : undefined);
  }
  const activated = activation === undefined ? found : { ...found, ...saidBy(activation) };
  return entry === undefined ? activated : throughView(entry, activated);
}

const saidBy = ({ policy_overrides: overrides, user_did: user }: ToolActivation) =>
  user === undefined ? { overrides } : { overrides, overridesUser: user };

/** Looks in the tenant's own tools, then in the catalogue tools that the tenant was given. */
function findAvailable(
  { registry, catalogTenant }: Pick<VisibleToolsParts, 'registry' | 'catalogTenant'>,
  rules: TenantRules,
  tenantId: string,
  toolId: string,
  range: string | undefined,
): FoundTool | Failure {
  const available = rules.availability.get(toolId)?.available;
  if (available === false) return unknownTool(toolId);
  const own = registry.find(tenantId, toolId, range);
  if (available !== true || !isFailure(own) || own.code !== 'E3001') return own;
  return registry.find(catalogTenant, toolId, range);
}

/** A view that pins a definition shows no other version of the tool. */
function throughView({ name, rule }: ViewEntry, given: FoundTool): FoundTool | Failure {
  const found = given.warnings.length === 0 ? given : { ...given, warnings: warningsFor(name, given) };
  if (rule === undefined) return { ...found, name };
  const pin = rule.content_hash;
  if (pin === undefined || pin === found.tool.contentHash) return { ...found, name, rule };
  return onlyPinned(name);
}

const onlyPinned = (name: string): Failure =>
  failure('E3006', `Only one version of ${name} may be used here. Leave the version out.`);

const warningsFor = (name: string, { tool, warnings }: FoundTool): FoundTool['warnings'] =>
  warnings.map((warning) => ({ ...warning, message: renamed(warning.message, tool.manifest.tool_id, name) }));

/** Replaces the tool's id in a text by the name that the agent's view gives it, where the id is a whole word. */
function renamed(text: string, toolId: string, name: string): string {
  if (toolId === name) return text;
  const word = new RegExp(`(?<![\\w.-])${toolId.replaceAll('.', '\\.')}(?![\\w-])`, 'g');
  return text.replaceAll(word, () => name);
}

/** Uses the caller's own name for the tool: an agent learns no other name, an operator learns what to change. */
function named(failed: Failure, toolId: string, name: string, rules: TenantRules | undefined): Failure {
  if (failed.code !== 'E3001') return { ...failed, message: renamed(failed.message, toolId, name) };
  if (rules?.availability.get(toolId)?.available !== false) return unknownTool(name);
  return failure('E3001', `${name} was made unavailable to the tenant; set its availability to call it.`);
}
