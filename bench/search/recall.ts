import type { ToolSearch } from '../../packages/sallyport/src/registry/tool-search.ts';
import type { Nearness } from '../../packages/sallyport/src/registry/vectors.port.ts';
import { memoryVectorIndex } from '../../packages/sallyport/src/storage/memory/memory-vector-index.ts';
import { TENANT, vectorOfQuery, vectorOfTool } from './search-of-set.ts';
import type { SetQuery, ToolSet } from './tool-set.ts';

/** Places of a list that count. */
export const PLACES = 5;

/** Ids of what a search answers with, the best first. */
export type Finder = (query: string) => Promise<readonly string[]> | readonly string[];

/** Groups of all queries with a hit in the first {@link PLACES}, as a share of all groups. */
export async function recallOf(queries: readonly SetQuery[], find: Finder): Promise<number> {
  let hit = 0;
  let groups = 0;
  for (const query of queries) {
    const first = new Set((await find(query.query)).slice(0, PLACES));
    for (const group of query.groups) {
      groups += 1;
      if (group.some((id) => first.has(id))) hit += 1;
    }
  }
  return groups === 0 ? 0 : hit / groups;
}

/** What a tool search answers with; without a threshold where that is what is measured. */
export function searchFinder(search: ToolSearch, threshold?: number): Finder {
  const more = threshold === undefined ? {} : { threshold };
  return async (text) => {
    const { found } = await search.search([TENANT], { text, page: 1, pageSize: PLACES, ...more });
    return found.map(({ tool }) => tool.manifest.tool_id);
  };
}

/** By nearness of the vectors alone, made as the search makes them. */
export async function embeddingFinder(
  set: ToolSet,
  embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>,
): Promise<Finder> {
  const index = memoryVectorIndex();
  for (const { manifest } of set.tools) {
    const vector = await vectorOfTool(manifest, embed);
    await index.open('bench', vector.length);
    await index.put(TENANT, [{ toolId: manifest.tool_id, vector }]);
  }
  return async (query) => {
    const nearness: Nearness = {
      queries: await vectorOfQuery(query, embed),
      cosineMin: -1,
      toolsMax: PLACES,
      also: [],
    };
    const found = await index.search(TENANT, nearness);
    return [...found].sort(([, one], [, other]) => other - one).map(([id]) => id);
  };
}
