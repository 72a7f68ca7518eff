import type { ToolSearchRequest } from '../../../api/schemas/registry/search.ts';
import type { ToolSummary } from '../../../api/schemas/registry.ts';
import type { Tier } from '../../../api/schemas/visibility.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { type SeenTool, summaryOf } from '../../pipeline/visible-tools.ts';
import type { ToolSearchAnswer } from '../../registry/tool-search.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** What finding needs. */
export type FindingParts = Pick<OperationParts, 'registry' | 'visible' | 'toolSearch' | 'catalogTenant'>;

/** One tool that was found, as the asker sees it. */
export interface FoundSummary {
  readonly tool: ToolSummary;
  readonly score: number;
  readonly similarity?: number;
}

/** What the search found among the tools that the asker may see; nothing else takes part in it. */
export interface SeenAnswer extends Omit<ToolSearchAnswer, 'found'> {
  readonly found: readonly FoundSummary[];
}

/** Searches the tenant's tools, and those of the catalogue that it sees. Without a tier those that the asker may call. */
export async function findSeen(
  parts: FindingParts,
  asker: Asker,
  { query, category, tags, executor, tier, threshold, page = 1, page_size = 50 }: ToolSearchRequest,
): Promise<SeenAnswer> {
  const see = sightOf(parts, asker, tier);
  const answer = await parts.toolSearch.search(tenantsOf(parts, asker), {
    text: query,
    ...(category === undefined ? {} : { category }),
    ...(tags === undefined ? {} : { tags }),
    ...(executor === undefined ? {} : { executor }),
    ...(threshold === undefined ? {} : { threshold }),
    ...seenBy(parts, asker, tier, see),
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

/** Without a tier the answer of the sight is kept by the search, for as long as it is the same. */
function seenBy({ visible }: FindingParts, asker: Asker, tier: Tier | undefined, see: Sight) {
  const key = tier === undefined ? visible.sightKey(asker) : undefined;
  return { visible: (tool: ToolVersion) => see(tool) !== undefined, ...(key === undefined ? {} : { visibleKey: key }) };
}

type Sight = (tool: ToolVersion) => SeenTool | undefined;

/** As the lists by tier have it, less what waits for an operator: its words are not to be found. */
function sightOf({ registry, visible }: FindingParts, asker: Asker, tier: Tier | undefined): Sight {
  const sight = visible.sight(asker);
  if (tier === undefined) return sight;
  const { tenantId } = asker.principal;
  const hidden = HIDDEN[tier];
  return (tool) => {
    const { tool_id } = tool.manifest;
    // A tool of the tenant's own stands before one of the catalogue with the same id.
    if (tool.tenantId !== tenantId && registry.versions(tenantId, tool_id).length > 0) return undefined;
    const why = visible.why(asker, tool_id);
    if (why !== undefined && (hidden === 'all' || hidden.includes(why.code))) return undefined;
    return tier === 'agent' ? sight(tool) : { name: tool_id, tool };
  };
}

/** Reasons that keep a tool out of a tier. */
const HIDDEN: Readonly<Record<Tier, 'all' | readonly string[]>> = {
  catalog: ['quarantined'],
  tenant: ['quarantined', 'not_in_tenant'],
  agent: 'all',
};
