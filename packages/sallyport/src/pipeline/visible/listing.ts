import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { ToolSummary } from '../../../api/schemas/registry.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { coversToolId } from '../../permission/token-scope.ts';
import type { ListFilter, Paging, Registry } from '../../registry/registry.ts';
import { activationFor, viewOf } from '../../visibility/visibility.ts';
import { seesAll } from './find.ts';
import {
  type Asking,
  manifestOf,
  type SeenTool,
  type ToolFilter,
  type VisibleToolsParts,
  versionsOf,
} from './seen-tool.ts';
import { type AppliedView, byId, isKnown, type VisibleToolsOfTenants } from './tools-of-tenant.ts';

/** Lists of tools as one caller sees them. */
export interface Listing {
  seenBy(asking: Asking): (tool: ToolVersion) => SeenTool | undefined;
  seenKey(asking: Asking): object | undefined;
  /** The tools that may be visible at all, before the caller's own view; ordered by id unless a view orders them. */
  candidates(asking: Asking): readonly ToolVersion[];
  tools(asking: Asking): readonly SeenTool[];
  list(asking: Asking, filter: ToolFilter, paging: Paging): ToolPage;
}

type AskerFilter = Pick<ListFilter, 'visible' | 'visibleKey'>;

interface ToolPage {
  readonly tools: readonly ToolSummary[];
  readonly total: number;
}

/** Lists what somebody sees. */
export function listing(parts: VisibleToolsParts, byTenant: VisibleToolsOfTenants): Listing {
  const seenBy: Listing['seenBy'] = (asking) =>
    seesAll(asking.principal) ? (tool) => covered(parts, asking, tool) : narrowed(parts, byTenant, asking);

  const candidates: Listing['candidates'] = (asking) => {
    const { tenantId } = asking.principal;
    const view = appliedView(parts, byTenant, asking);
    if (view !== undefined) return [...view.entries.values()].map(({ tool }) => tool);
    const own = parts.registry.manifests(tenantId);
    if (parts.visibility.rulesOf(tenantId) === undefined) return own;
    const { tools: available, shared } = byTenant.of(tenantId);
    if (!seesAll(asking.principal)) return available;
    // A caller who manages tools sees its tenant's own, available or not.
    return shared ? [...own, ...available.filter((tool) => tool.tenantId !== tenantId)].sort(byId) : own;
  };

  const tools: Listing['tools'] = (asking) => {
    const see = seenBy(asking);
    const seen = candidates(asking).flatMap((tool) => see(tool) ?? []);
    return appliedView(parts, byTenant, asking) === undefined ? seen : seen.toSorted(byName);
  };

  const keys = visibleKeys(parts);
  /**
   * No filter for a caller who sees all of the tenant's tools: otherwise every tool's name would be looked up in vain.
   */
  const filterFor = (asking: Asking): AskerFilter => {
    const { claims } = asking;
    if (claims === undefined && seesAll(asking.principal)) return {};
    const see = seenBy(asking);
    const visible = (tool: ToolVersion): boolean => see(tool) !== undefined;
    const isKept = claims !== undefined && asking.held === undefined;
    return isKept ? { visible, visibleKey: keys.of(claims) } : { visible };
  };
  return {
    seenBy,
    seenKey: ({ claims, held }) => (claims === undefined || held !== undefined ? undefined : keys.of(claims)),
    candidates,
    tools,
    list(asking, filter, paging) {
      const { tenantId } = asking.principal;
      const shared = parts.visibility.rulesOf(tenantId) !== undefined && byTenant.of(tenantId).shared;
      if (shared || appliedView(parts, byTenant, asking) !== undefined)
        return composed(parts, tools(asking), filter, paging);
      const page = parts.registry.list(tenantId, { ...filter, ...filterFor(asking) }, paging);
      return { ...page, tools: withApproval(parts, asking, page.tools) };
    },
  };
}

/** Cache keys for what the holder of a token sees, valid until rules or quarantine change. */
function visibleKeys({ visibility, quarantine }: VisibleToolsParts): { of(claims: CapabilityClaims): object } {
  let keys = new WeakMap<CapabilityClaims, object>();
  const forget = (): void => {
    keys = new WeakMap();
  };
  visibility.onChanged(forget);
  quarantine.onChanged(forget);
  return {
    of(claims) {
      const known = keys.get(claims);
      if (known !== undefined) return known;
      const key = {};
      keys.set(claims, key);
      return key;
    },
  };
}

const byName = (a: SeenTool, b: SeenTool): number => (a.name < b.name ? -1 : 1);

/** A tool in the token, as the caller's activation changes it: the calls of a caller who sees all are changed too. */
function covered(
  { visibility }: VisibleToolsParts,
  { principal, claims }: Asking,
  tool: ToolVersion,
): SeenTool | undefined {
  const { tool_id } = tool.manifest;
  if (claims !== undefined && !coversToolId(claims, tool_id)) return undefined;
  const rules = visibility.rulesOf(principal.tenantId);
  const activation = rules === undefined ? undefined : activationFor(rules, principal, tool_id);
  return { name: tool_id, tool, ...(activation === undefined ? {} : { overrides: activation.policy_overrides }) };
}

function appliedView(
  parts: VisibleToolsParts,
  byTenant: VisibleToolsOfTenants,
  { principal }: Asking,
): AppliedView | undefined {
  const rules = parts.visibility.rulesOf(principal.tenantId);
  if (rules === undefined || seesAll(principal)) return undefined;
  const stored = viewOf(rules, principal.agentDid);
  return stored === undefined ? undefined : byTenant.of(principal.tenantId).applied(stored);
}

/**
 * What an agent sees: tools available to the tenant, enabled for the agent, in its view and token, not in quarantine.
 */
function narrowed(
  parts: VisibleToolsParts,
  byTenant: VisibleToolsOfTenants,
  asking: Asking,
): (tool: ToolVersion) => SeenTool | undefined {
  const { principal } = asking;
  const { tenantId } = principal;
  const rules = parts.visibility.rulesOf(tenantId);
  const view = appliedView(parts, byTenant, asking);
  return (tool) => {
    const { tool_id } = tool.manifest;
    const available = rules?.availability.get(tool_id)?.available;
    if (available === false) return undefined;
    if (asking.held?.has(tool_id) === true) return undefined;
    if (tool.tenantId !== tenantId && !isGiven(parts, tenantId, tool, available)) return undefined;
    const seen = covered(parts, asking, tool);
    if (seen === undefined || parts.quarantine.blocks(tool.tenantId, tool_id) !== undefined) return undefined;
    const activation = rules === undefined ? undefined : activationFor(rules, principal, tool_id);
    if (activation?.enabled === false) return undefined;
    return view === undefined ? seen : throughView(view, seen);
  };
}

/** True for a catalogue tool that an operator made available, and that no tool of the tenant's own hides. */
function isGiven(
  { registry, catalogTenant }: VisibleToolsParts,
  tenantId: string,
  tool: ToolVersion,
  available: boolean | undefined,
): boolean {
  return available === true && tool.tenantId === catalogTenant && !isKnown(registry, tenantId, tool.manifest.tool_id);
}

function throughView({ byId }: AppliedView, seen: SeenTool): SeenTool | undefined {
  const entry = byId.get(seen.tool.manifest.tool_id);
  if (entry === undefined) return undefined;
  const { name, rule } = entry;
  if (rule === undefined) return { ...seen, name };
  const isPinned = rule.content_hash !== undefined && rule.content_hash !== seen.tool.contentHash;
  return isPinned ? undefined : { ...seen, name, rule };
}

/** A page that joins registry and rules: names of a view, or tools of the catalogue. */
function composed(
  { registry }: VisibleToolsParts,
  seen: readonly SeenTool[],
  filter: ToolFilter,
  { page, pageSize }: Paging,
): ToolPage {
  const matching = seen.filter((each) => matches(each, filter));
  const from = (page - 1) * pageSize;
  const tools = matching.slice(from, from + pageSize).map((each) => summaryOf(registry, each));
  return { tools, total: matching.length };
}

/** A tool as tool.list() shows it, under the name that the caller knows. */
export function summaryOf(registry: Pick<Registry, 'versions'>, seen: SeenTool): ToolSummary {
  const shown = manifestOf(seen);
  return {
    tool_id: seen.name,
    tool_name: shown.tool_name,
    description: shown.description,
    category: shown.category ?? '',
    versions: versionsOf(registry, seen),
    latest_version: shown.version,
    tags: shown.tags ?? [],
    requires_approval: shown.execution_config?.requires_approval ?? false,
    executor: shown.executor.kind,
    state: seen.tool.state,
  };
}

function matches({ tool: { manifest } }: SeenTool, { category, tags, executor }: ToolFilter): boolean {
  if (category !== undefined && manifest.category !== category) return false;
  if (executor !== undefined && manifest.executor.kind !== executor) return false;
  return tags?.every((tag) => manifest.tags?.includes(tag)) !== false;
}

function withApproval(
  { visibility }: VisibleToolsParts,
  { principal }: Asking,
  tools: readonly ToolSummary[],
): readonly ToolSummary[] {
  const rules = visibility.rulesOf(principal.tenantId);
  if (rules === undefined) return tools;
  return tools.map((tool) =>
    activationFor(rules, principal, tool.tool_id)?.policy_overrides.requires_approval === true
      ? { ...tool, requires_approval: true }
      : tool,
  );
}
