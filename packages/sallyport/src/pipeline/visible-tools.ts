import { type Failure, isFailure } from '@sallyport/std/error/failure';
import type { Fault } from '../../api/schemas/error.ts';
import type { ToolSummary } from '../../api/schemas/registry.ts';
import type { ToolView, VisibleTool } from '../../api/schemas/visibility.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';
import { coversToolId, otherTool } from '../permission/token-scope.ts';
import { didYouMean, type Paging, unknownTool } from '../registry/registry.ts';
import type { ResolvedView } from '../visibility/resolve-view.ts';
import type { ViewChecks } from '../visibility/view-faults.ts';
import { finder, idBehind } from './visible/find.ts';
import { listing } from './visible/listing.ts';
import { nearNames } from './visible/near-names.ts';
import { reader } from './visible/read.ts';
import type {
  Asking,
  Find,
  FoundTool,
  SeenTool,
  TierList,
  ToolFilter,
  VisibleToolsParts,
} from './visible/seen-tool.ts';
import { tenantSights } from './visible/tenant-sight.ts';
import { tiers } from './visible/tiers.ts';

export { summaryOf } from './visible/listing.ts';
export { manifestOf, versionsOf } from './visible/seen-tool.ts';
export type { Asking, FoundTool, SeenTool, TierList, ToolFilter, VisibleToolsParts };

/**
 * Who may see which tool: the one place where registry, tiers, activations, views, token scope and quarantine meet. Only
 * tokens without the role agent and with operator or admin, and local callers, are not narrowed by activations and views.
 */
export interface VisibleTools {
  /**
   * The tool that a name stands for, whatever the token covers.
   * @returns E3001 for what one may not see as for what does not exist, E3813 for a tool in quarantine, and what
   *   {@link Registry.find} returns
   */
  readonly find: Find;
  /**
   * The tool that a call means. What is not found is looked for in the store first, at most once a second.
   * @returns as `find`; E3209 for a name that the token does not cover, whether there is such a tool or not. Both name what
   *   the asker sees and may have meant, in `details.did_you_mean`
   */
  findAnywhere(asking: Asking, name: string, range?: string): FoundTool | Failure | Promise<FoundTool | Failure>;
  /** The tool for somebody who only reads; the token's scope counts too, and E3001 names near tools. An operator sees all. */
  readonly read: Find;
  /** Whether and how somebody sees a tool in lists, as a test to be run over many. */
  sight(asking: Asking): (tool: ToolVersion) => SeenTool | undefined;
  /**
   * The same object as long as `sight` answers the same for the same tools, so that answers can be kept under it.
   * Undefined for a caller without a token.
   */
  sightKey(asking: Asking): object | undefined;
  /** Everything that somebody sees, ordered by name. */
  tools(asking: Asking): readonly SeenTool[];
  /** One page of that as tool.list() shows it. */
  list(
    asking: Asking,
    filter: ToolFilter,
    paging: Paging,
  ): { readonly tools: readonly ToolSummary[]; readonly total: number };
  /** One page of a list by tier, ordered by name. */
  tier(
    asking: Asking,
    list: TierList,
    paging: Paging,
  ): { readonly tools: readonly VisibleTool[]; readonly total: number };
  /** Why somebody cannot use a tool; undefined when nothing stands in the way, or when there is no such tool at all. */
  why(asking: Asking, toolId: string): VisibleTool['why_unavailable'];
  /** What becomes of a view for the tools that there are now. */
  resolve(tenantId: string, view: ToolView): ResolvedView;
  /** Everything that is wrong with a view, with its place in the view. */
  viewFaults(tenantId: string, view: ToolView, argumentFaults: ViewChecks['argumentFaults']): readonly Fault[];
  /** Whether a tenant has a tool, or could have it from the catalogue. */
  exists(tenantId: string, toolId: string): boolean;
  /** Tells of each change of what anybody sees, after it took effect. */
  onChanged(listener: () => void): Disposable;
}

/** Joins what the parts say. Views are worked out once, and again after a change of rules or tools. */
export function createVisibleTools(parts: VisibleToolsParts): VisibleTools {
  const sights = tenantSights(parts);
  const find = finder(parts, sights);
  const listed = listing(parts, sights);
  const { sight, sightKey, tools, list } = listed;
  const { tier, why } = tiers(parts, sights, listed);
  const { registry, visibility, quarantine } = parts;
  const idOf = idBehind(parts, sights);
  const { suggested, near } = nearNames(listed);
  const read = reader(parts, find, idOf);
  const told = (found: FoundTool | Failure, asking: Asking, name: string): FoundTool | Failure =>
    isFailure(found) ? suggested(found, asking, name) : found;
  return {
    find,
    findAnywhere(asking, name, range) {
      const refused = notCovered(asking, name, idOf, near);
      if (refused !== undefined) return told(refused, asking, name);
      const found = find(asking, name, range);
      if (!isFailure(found)) return found;
      // For a tool that is hidden too: what takes longer would tell it from one that does not exist.
      const again = registry.lookAgain();
      return again?.then(() => told(find(asking, name, range), asking, name)) ?? told(found, asking, name);
    },
    read: (asking, name, range) => told(read(asking, name, range), asking, name),
    sight,
    sightKey,
    tools,
    list,
    tier,
    why,
    resolve: (tenantId, view) => sights.resolve(tenantId, view),
    viewFaults: (tenantId, view, argumentFaults) => sights.viewFaults(tenantId, view, argumentFaults),
    exists: (tenantId, toolId) =>
      registry.versions(tenantId, toolId).length > 0 || registry.versions(parts.catalogTenant, toolId).length > 0,
    onChanged(listener) {
      const told = [registry.onChanged(listener), visibility.onChanged(listener), quarantine?.onChanged(listener)];
      return {
        [Symbol.dispose]() {
          for (const each of told) each?.[Symbol.dispose]();
        },
      };
    },
  };
}

/** Decided by the token and the name alone, so that it says nothing of which tools there are. */
function notCovered(
  asking: Asking,
  name: string,
  idOf: (asking: Asking, name: string) => string,
  near: (asking: Asking, name: string) => readonly string[],
): Failure | undefined {
  const { claims } = asking;
  if (claims === undefined || coversToolId(claims, idOf(asking, name))) return undefined;
  // The name of a view, for a tool that the token is not for: as any name that the token covers and nothing has.
  if (coversToolId(claims, name)) return unknownTool(name);
  const refused = otherTool(claims, name);
  const meant = near(asking, name);
  if (meant.length === 0) return refused;
  return { ...refused, message: `${refused.message} ${didYouMean(meant)}`, details: { did_you_mean: meant } };
}
