import type { ToolSearchRequest } from '../../../api/schemas/registry/search.ts';
import type { ToolSummary } from '../../../api/schemas/registry.ts';
import type { Tier } from '../../../api/schemas/visibility.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { type SeenTool, summaryOf } from '../../pipeline/visible-tools.ts';
import type { ToolSearchAnswer } from '../../registry/tool-search.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Dependencies of the search. */
export type FindingParts = Pick<OperationParts, 'registry' | 'visible' | 'toolSearch' | 'catalogTenant'>;

/** One tool that was found, as the asker sees it. */
export interface FoundSummary {
  readonly tool: ToolSummary;
  readonly score: number;
  readonly similarity?: number;
}

/** The search results among the tools that the asker may see; no other tool influences them. */
export interface SeenAnswer extends Omit<ToolSearchAnswer, 'found'> {
  readonly found: readonly FoundSummary[];
}

/**
 * Searches the tenant's tools, and the catalogue tools that it sees. Without a tier: the tools that the asker may call.
 */
export async function findSeen(
  parts: FindingParts,
  given: Asker,
  { query, category, tags, executor, tier, threshold, page = 1, page_size = 50 }: ToolSearchRequest,
): Promise<SeenAnswer> {
  const asker = await parts.visible.gated(given);
  const see = visibleTo(parts, asker, tier);
  const answer = await parts.toolSearch.search(tenantsOf(parts, asker), {
    text: query,
    ...(category === undefined ? {} : { category }),
    ...(tags === undefined ? {} : { tags }),
    ...(executor === undefined ? {} : { executor }),
    ...(threshold === undefined ? {} : { threshold }),
    ...seenBy(parts, asker, tier, see),
    ...(asker.boosts === undefined ? {} : { boosts: asker.boosts }),
    page,
    pageSize: page_size,
  });
  const found = answer.found.flatMap(({ tool, ...ranking }) => {
    const seen = see(tool);
    return seen === undefined ? [] : [{ tool: summaryOf(parts.registry, seen), ...ranking }];
  });
  return { ...answer, found };
}

function tenantsOf({ registry, catalogTenant }: FindingParts, { principal: { tenantId } }: Asker): readonly string[] {
  const isShared = tenantId !== catalogTenant && registry.manifests(catalogTenant).length > 0;
  return isShared ? [tenantId, catalogTenant] : [tenantId];
}

/** Without a tier the search caches the visible tools while the key stays the same. */
function seenBy({ visible }: FindingParts, asker: Asker, tier: Tier | undefined, see: SeenAs) {
  const key = tier === undefined ? visible.seenKey(asker) : undefined;
  return { visible: (tool: ToolVersion) => see(tool) !== undefined, ...(key === undefined ? {} : { visibleKey: key }) };
}

type SeenAs = (tool: ToolVersion) => SeenTool | undefined;

/** As the lists by tier, without tools that wait for an operator: their text must not be found. */
function visibleTo({ registry, visible }: FindingParts, asker: Asker, tier: Tier | undefined): SeenAs {
  const seen = visible.seenBy(asker);
  const { tenantId } = asker.principal;
  // A tenant's own tool hides a catalogue tool with the same id.
  const isHidden = (tool: ToolVersion): boolean =>
    tool.tenantId !== tenantId && registry.versions(tenantId, tool.manifest.tool_id).length > 0;
  if (tier === undefined) return (tool) => (isHidden(tool) ? undefined : seen(tool));
  const hidden = HIDDEN[tier];
  return (tool) => {
    const { tool_id } = tool.manifest;
    if (isHidden(tool)) return undefined;
    const why = visible.why(asker, tool_id);
    if (why !== undefined && (hidden === 'all' || hidden.includes(why.code))) return undefined;
    if (tier === 'agent') return seen(tool);
    const overrides = seen(tool)?.overrides;
    return { name: tool_id, tool, ...(overrides === undefined ? {} : { overrides }) };
  };
}

/** Reasons that exclude a tool from a tier. */
const HIDDEN: Readonly<Record<Tier, 'all' | readonly string[]>> = {
  catalog: ['quarantined'],
  tenant: ['quarantined', 'not_in_tenant'],
  agent: 'all',
};
