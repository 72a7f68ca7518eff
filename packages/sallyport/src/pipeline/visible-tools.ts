import { type Failure, isFailure } from '@sallyport/std/error/failure';
import type { Fault } from '../../api/schemas/error.ts';
import type { ToolSummary } from '../../api/schemas/registry.ts';
import type { ToolView, VisibleTool } from '../../api/schemas/visibility.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';
import { coversToolId, otherTool } from '../permission/token-scope.ts';
import { didYouMean, type Paging, unknownTool } from '../registry/registry.ts';
import type { ResolvedView } from '../visibility/resolve-view.ts';
import type { ViewChecks } from '../visibility/view-faults.ts';
import { finder, idResolver, nameResolver, seesAll } from './visible/find.ts';
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
import { tiers } from './visible/tiers.ts';
import { visibleToolsOfTenants } from './visible/tools-of-tenant.ts';

export { summaryOf } from './visible/listing.ts';
export { manifestOf, versionsOf } from './visible/seen-tool.ts';
export type { Asking, FoundTool, SeenTool, TierList, ToolFilter, VisibleToolsParts };

/**
 * Decides which caller sees which tool: the one place where registry, tiers, activations, views, token scope and
 * quarantine meet. Activations and views narrow every caller, except tokens that have operator or admin without agent,
 * and local callers.
 */
export interface VisibleTools {
  /**
   * The tool that a name means, whatever the token covers.
   * @returns E3001 both for an invisible tool and for one that does not exist, E3813 for a tool in quarantine, and the
   *   failures of {@link Registry.find}
   */
  readonly find: Find;
  /**
   * The tool that a call means. A name that is not found is looked up in the store first, at most once a second.
   * @returns as `find`; E3209 for a name that the token does not cover, whether or not such a tool exists. Both
   *   failures name visible tools with similar names in `details.did_you_mean`
   */
  findAnywhere(asking: Asking, name: string, range?: string): FoundTool | Failure | Promise<FoundTool | Failure>;
  /**
   * As `findAnywhere`, for a tool that is named by its id, also where a view of the caller gives it another name: a tool
   * that takes a call back is named by another tool, and not by the caller.
   */
  findById(asking: Asking, toolId: string, range?: string): FoundTool | Failure | Promise<FoundTool | Failure>;
  /**
   * The tool for a caller that only reads; the token's scope counts too, and E3001 names similar tools. An operator
   * sees all.
   */
  readonly read: Find;
  /** A test for many tools: whether and how this caller sees a tool in lists. */
  seenBy(asking: Asking): (tool: ToolVersion) => SeenTool | undefined;
  /**
   * The same object as long as `seenBy` answers the same for the same tools, so that answers can be cached under it.
   * Undefined for a caller without a token.
   */
  seenKey(asking: Asking): object | undefined;
  /** Everything that the caller sees, ordered by name. */
  tools(asking: Asking): readonly SeenTool[];
  /** One page of it as tool.list() shows it. */
  list(
    asking: Asking,
    filter: ToolFilter,
    paging: Paging,
  ): { readonly tools: readonly ToolSummary[]; readonly total: number };
  /**
   * The asker with what its session holds back and ranks higher, for the lists of this interface and for searches; the asker itself when it manages tools,
   * and where nothing is held back.
   * @throws ToolLayerError E3812 when it is not known what completed
   */
  gated<A extends Asking>(asking: A): Promise<A & Pick<Asking, 'held' | 'boosts'>>;
  /** One page of a list by tier, ordered by name. */
  tier(
    asking: Asking,
    list: TierList,
    paging: Paging,
  ): { readonly tools: readonly VisibleTool[]; readonly total: number };
  /** Why the caller cannot use a tool; undefined when it can, or when there is no such tool. */
  why(asking: Asking, toolId: string): VisibleTool['why_unavailable'];
  /** Resolves a view against the present tools. */
  resolve(tenantId: string, view: ToolView): ResolvedView;
  /** All faults of a view, with their places in the view. */
  viewFaults(tenantId: string, view: ToolView, argumentFaults: ViewChecks['argumentFaults']): readonly Fault[];
  /** True when a tenant has a tool, or could have it from the catalogue. */
  exists(tenantId: string, toolId: string): boolean;
  /** Notifies the listener after each change of what any caller sees. */
  onChanged(listener: () => void): Disposable;
}

/** Joins registry, rules and views. Views are computed once, and again after a change of rules or tools. */
export function createVisibleTools(parts: VisibleToolsParts): VisibleTools {
  const byTenant = visibleToolsOfTenants(parts);
  const find = finder(parts, byTenant);
  const listed = listing(parts, byTenant);
  const { seenBy, seenKey, tools, list } = listed;
  const { tier, why } = tiers(parts, byTenant, listed);
  const { registry, visibility, quarantine } = parts;
  const idOf = idResolver(parts, byTenant);
  const nameOf = nameResolver(parts, byTenant);
  const { suggested, near } = nearNames(listed);
  const read = reader(parts, find, idOf);
  const withSuggestions = (found: FoundTool | Failure, asking: Asking, name: string): FoundTool | Failure =>
    isFailure(found) ? suggested(found, asking, name) : found;
  const findAnywhere: VisibleTools['findAnywhere'] = (asking, name, range) => {
    const refused = notCovered(asking, name, idOf, near);
    if (refused !== undefined) return withSuggestions(refused, asking, name);
    const found = find(asking, name, range);
    if (!isFailure(found)) return found;
    // Done for a hidden tool too: otherwise the time would distinguish it from one that does not exist.
    const again = registry.lookAgain();
    return (
      again?.then(() => withSuggestions(find(asking, name, range), asking, name)) ??
      withSuggestions(found, asking, name)
    );
  };
  return {
    find,
    findAnywhere,
    findById(asking, toolId, range) {
      const name = nameOf(asking, toolId);
      return name === undefined ? unknownTool(toolId) : findAnywhere(asking, name, range);
    },
    read: (asking, name, range) => withSuggestions(read(asking, name, range), asking, name),
    seenBy,
    seenKey,
    tools,
    list,
    async gated(asking) {
      const { principal } = asking;
      if (parts.gates === undefined || principal.sessionId === undefined || seesAll(principal)) return asking;
      const { held, boosts } = await parts.gates.shown(
        principal,
        tools(asking).map(({ tool }) => tool),
      );
      return { ...asking, ...(held.size === 0 ? {} : { held }), ...(boosts.size === 0 ? {} : { boosts }) };
    },
    tier,
    why,
    resolve: (tenantId, view) => byTenant.resolve(tenantId, view),
    viewFaults: (tenantId, view, argumentFaults) => byTenant.viewFaults(tenantId, view, argumentFaults),
    exists: (tenantId, toolId) =>
      registry.versions(tenantId, toolId).length > 0 || registry.versions(parts.catalogTenant, toolId).length > 0,
    onChanged(listener) {
      const subscriptions = [
        registry.onChanged(listener),
        visibility.onChanged(listener),
        quarantine.onChanged(listener),
        parts.gates?.onCompleted(listener),
      ];
      return {
        [Symbol.dispose]() {
          for (const each of subscriptions) each?.[Symbol.dispose]();
        },
      };
    },
  };
}

/** Decided by the token and the name alone, so that it reveals nothing about which tools exist. */
function notCovered(
  asking: Asking,
  name: string,
  idOf: (asking: Asking, name: string) => string,
  near: (asking: Asking, name: string) => readonly string[],
): Failure | undefined {
  const { claims } = asking;
  if (claims === undefined || coversToolId(claims, idOf(asking, name))) return undefined;
  // A tool named by a view, but not covered by the token: answered like an unknown name that the token covers.
  if (coversToolId(claims, name)) return unknownTool(name);
  const refused = otherTool(claims, name);
  const meant = near(asking, name);
  if (meant.length === 0) return refused;
  return { ...refused, message: `${refused.message} ${didYouMean(meant)}`, details: { did_you_mean: meant } };
}
