import { isFailure } from '@sallyport/std/error/failure';
import { LRUCache } from 'lru-cache';
import type { Fault } from '../../../api/schemas/error.ts';
import type { ToolView } from '../../../api/schemas/visibility.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { type ResolvedView, resolveView, type TenantTools, type ViewEntry } from '../../visibility/resolve-view.ts';
import { type ViewChecks, viewFaults } from '../../visibility/view-faults.ts';
import type { StoredView, TenantRules } from '../../visibility/visibility.ts';
import type { VisibleToolsParts } from './seen-tool.ts';

/** Tenants whose computed views are cached; those of others are computed anew. */
const TENANTS_MAX = 1_000;

/** A view that was applied, with its tools by id too. */
export interface AppliedView extends ResolvedView {
  readonly byId: ReadonlyMap<string, ViewEntry>;
}

/** The visible tools of one tenant under its rules, valid until one of them changes. */
export interface VisibleToolsOfTenant extends TenantTools {
  /** True when tools of the catalogue are among them. */
  readonly shared: boolean;
  applied(stored: StoredView): AppliedView;
}

/** Computed for each tenant, and cached until a change. */
export interface VisibleToolsOfTenants {
  of(tenantId: string): VisibleToolsOfTenant;
  resolve(tenantId: string, view: ToolView): ResolvedView;
  viewFaults(tenantId: string, view: ToolView, argumentFaults: ViewChecks['argumentFaults']): readonly Fault[];
}

interface Kept {
  readonly ofTenant: VisibleToolsOfTenant;
  readonly rules: TenantRules | undefined;
  readonly revision: number;
}

export function visibleToolsOfTenants(parts: VisibleToolsParts): VisibleToolsOfTenants {
  const { registry, visibility, catalogTenant } = parts;
  const kept = new LRUCache<string, Kept>({ max: TENANTS_MAX });
  registry.onChanged(({ tenantId }) => {
    // The catalogue is visible to every tenant.
    if (tenantId === catalogTenant) kept.clear();
    else kept.delete(tenantId);
  });
  const of = (tenantId: string): VisibleToolsOfTenant => {
    const rules = visibility.rulesOf(tenantId);
    const revision = rules?.revision ?? 0;
    const known = kept.get(tenantId);
    if (known !== undefined && known.rules === rules && known.revision === revision) return known.ofTenant;
    const ofTenant = visibleToolsOfTenant(parts, tenantId, rules);
    kept.set(tenantId, { ofTenant, rules, revision });
    return ofTenant;
  };
  return {
    of,
    resolve: (tenantId, view) => resolveView(view, of(tenantId)),
    viewFaults: (tenantId, view, argumentFaults) => {
      const { tools, isId } = of(tenantId);
      return viewFaults(view, { tools, isId, argumentFaults, rules: visibility.rulesOf(tenantId) });
    },
  };
}

function visibleToolsOfTenant(
  { registry, catalogTenant }: VisibleToolsParts,
  tenantId: string,
  rules: TenantRules | undefined,
): VisibleToolsOfTenant {
  const own = registry.manifests(tenantId);
  const said = (tool: ToolVersion): boolean | undefined => rules?.availability.get(tool.manifest.tool_id)?.available;
  // A tenant's own tool hides the catalogue tool of the same name, even after its removal: no name passes on to another
  // tool.
  const taken = registry
    .manifests(catalogTenant)
    .filter((tool) => said(tool) === true && !isKnown(registry, tenantId, tool.manifest.tool_id));
  const kept = own.filter((tool) => said(tool) !== false);
  const tools = taken.length === 0 ? kept : [...kept, ...taken].sort(byId);
  const takenIds = new Set(taken.map(({ manifest }) => manifest.tool_id));
  const isId = (name: string): boolean => takenIds.has(name) || registry.versions(tenantId, name).length > 0;
  const applied = new Map<string, AppliedView>();
  return {
    tools,
    isId,
    shared: taken.length > 0,
    applied({ view }) {
      const known = applied.get(view.name);
      if (known !== undefined) return known;
      const resolved = resolveView(view, { tools, isId });
      const entries = [...resolved.entries.values()].map((entry) => [entry.tool.manifest.tool_id, entry] as const);
      const made = { ...resolved, byId: new Map(entries) };
      applied.set(view.name, made);
      return made;
    },
  };
}

/** True when the tenant has, or had, a tool of its own under this id. */
export function isKnown(registry: VisibleToolsParts['registry'], tenantId: string, toolId: string): boolean {
  const found = registry.find(tenantId, toolId);
  return !isFailure(found) || found.code !== 'E3001';
}

/** In the order of ids. */
export const byId = (a: ToolVersion, b: ToolVersion): number => (a.manifest.tool_id < b.manifest.tool_id ? -1 : 1);
