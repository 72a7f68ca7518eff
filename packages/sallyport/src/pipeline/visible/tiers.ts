import { isFailure } from '@sallyport/std/error/failure';
import type { VisibleTool } from '../../../api/schemas/visibility.ts';
import { sideEffectOf, type ToolVersion } from '../../domain/tool/tool-version.ts';
import { coversToolId } from '../../permission/token-scope.ts';
import type { Paging } from '../../registry/registry.ts';
import { activationFor, viewOf } from '../../visibility/visibility.ts';
import { seesAll } from './find.ts';
import type { Listing } from './listing.ts';
import { type Asking, manifestOf, type SeenTool, type TierList, type VisibleToolsParts } from './seen-tool.ts';
import { isKnown, type VisibleToolsOfTenants } from './tools-of-tenant.ts';

type Why = NonNullable<VisibleTool['why_unavailable']>;

/** The lists by tier. */
export interface Tiers {
  tier(
    asking: Asking,
    list: TierList,
    paging: Paging,
  ): { readonly tools: readonly VisibleTool[]; readonly total: number };
  why(asking: Asking, toolId: string): Why | undefined;
}

/** The lists by tier, with the reason why each missing tool is not in the next tier (VIS-01). */
export function tiers(parts: VisibleToolsParts, byTenant: VisibleToolsOfTenants, { tools, seenBy }: Listing): Tiers {
  const { registry, catalogTenant } = parts;
  const reason = (asking: Asking, tool: ToolVersion): Why | undefined => whyNot(parts, byTenant, asking, tool);

  const catalog = (tenantId: string): readonly ToolVersion[] => {
    const offered = registry.manifests(catalogTenant);
    return [
      ...registry.manifests(tenantId),
      ...offered.filter(({ manifest }) => !isKnown(registry, tenantId, manifest.tool_id)),
    ];
  };
  const members = (asking: Asking, list: TierList): readonly SeenTool[] => {
    const { tenantId } = asking.principal;
    switch (list) {
      case 'catalog':
        return catalog(tenantId).map(byItsId);
      case 'tenant-available':
        return byTenant.of(tenantId).tools.map(byItsId);
      case 'agent-enabled':
        return tools(asking).filter(({ tool }) => !seesAll(asking.principal) || reason(asking, tool) === undefined);
      case 'agent-unavailable':
        return byTenant
          .of(tenantId)
          .tools.filter((tool) => reason(asking, tool) !== undefined)
          .map(byItsId);
    }
  };
  return {
    tier(asking, list, { page, pageSize }) {
      const all = members(asking, list).toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const from = (page - 1) * pageSize;
      const see = seenBy(asking);
      const shown = all.slice(from, from + pageSize).map((seen) => {
        if (list === 'agent-enabled') return visibleTool(seen, undefined);
        const overrides = see(seen.tool)?.overrides;
        const why = list === 'agent-unavailable' ? reason(asking, seen.tool) : whyNotInTenant(parts, asking, seen.tool);
        return visibleTool(overrides === undefined ? seen : { ...seen, overrides }, why);
      });
      return { tools: shown, total: all.length };
    },
    why(asking, toolId) {
      const own = registry.find(asking.principal.tenantId, toolId);
      const found = isFailure(own) && own.code === 'E3001' ? registry.find(catalogTenant, toolId) : own;
      return isFailure(found) ? undefined : reason(asking, found.tool);
    },
  };
}

const byItsId = (tool: ToolVersion): SeenTool => ({ name: tool.manifest.tool_id, tool });

function whyNotInTenant(
  { visibility, quarantine }: VisibleToolsParts,
  { principal }: Asking,
  tool: ToolVersion,
): Why | undefined {
  const { tool_id } = tool.manifest;
  const said = visibility.rulesOf(principal.tenantId)?.availability.get(tool_id);
  if (said?.available === false) {
    return { code: 'not_in_tenant', message: said.reason ?? 'An operator made it unavailable to the tenant.' };
  }
  if (tool.tenantId !== principal.tenantId && said === undefined) {
    return { code: 'not_in_tenant', message: 'It is on offer; an operator of the tenant can make it available.' };
  }
  const block = quarantine.blocks(tool.tenantId, tool_id);
  if (block === undefined) return undefined;
  return { code: 'quarantined', message: `An operator has to look at its definition first (${block.reason}).` };
}

function whyNot(
  parts: VisibleToolsParts,
  byTenant: VisibleToolsOfTenants,
  asking: Asking,
  tool: ToolVersion,
): Why | undefined {
  const { principal, claims } = asking;
  const { tool_id } = tool.manifest;
  const tenant = whyNotInTenant(parts, asking, tool);
  if (tenant !== undefined) return tenant;
  const rules = seesAll(principal) ? undefined : parts.visibility.rulesOf(principal.tenantId);
  const activation = rules === undefined ? undefined : activationFor(rules, principal, tool_id);
  if (activation?.enabled === false) {
    const message = activation.reason ?? 'It is disabled for this agent; an operator can enable it.';
    return { code: 'disabled_for_agent', message };
  }
  const view = rules === undefined ? undefined : viewOf(rules, principal.agentDid);
  if (view !== undefined && !byTenant.of(principal.tenantId).applied(view).byId.has(tool_id)) {
    return { code: 'not_in_view', message: `The view ${view.view.name} of this agent does not show it.` };
  }
  if (claims === undefined || coversToolId(claims, tool_id)) return heldBack(asking.held?.get(tool_id));
  return { code: 'not_in_token', message: 'The capability token does not cover it; ask for one that does.' };
}

function heldBack(missing: readonly string[] | undefined): Why | undefined {
  if (missing === undefined) return undefined;
  return { code: 'held_back', message: `It is offered once these completed in the session: ${missing.join(', ')}.` };
}

/** A tool that waits for an operator is shown without its server's text, which a model might obey. */
function visibleTool(seen: SeenTool, why: Why | undefined): VisibleTool {
  const shown = manifestOf(seen);
  const withheld = why?.code === 'quarantined';
  return {
    name: seen.name,
    tool_id: seen.tool.manifest.tool_id,
    version: shown.version,
    tool_name: withheld ? seen.tool.manifest.tool_id : shown.tool_name,
    description: withheld ? 'Withheld until an operator has accepted it.' : shown.description,
    ...(shown.category === undefined ? {} : { category: shown.category }),
    tags: shown.tags ?? [],
    executor: shown.executor.kind,
    side_effect_policy: sideEffectOf(shown),
    requires_confirmation: shown.requires_confirmation ?? false,
    requires_approval: shown.execution_config?.requires_approval ?? false,
    ...(why === undefined ? {} : { why_unavailable: why }),
  };
}
