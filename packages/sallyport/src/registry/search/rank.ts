import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { EmbedderTraits } from '../embedder.port.ts';
import { bestHits } from './best-hits.ts';
import type { KeywordScores } from './keywords/keyword-index.ts';
import type { TenantTools } from './tenant-tools.ts';
import { type Similarity, similarityOf } from './vectors/similarity.ts';

/** One tool that was found. */
export interface RankedTool {
  readonly tool: ToolVersion;
  /** Orders one answer. */
  readonly score: number;
  /** 0 to 1; undefined for a tool without a vector, or without a search by meaning. */
  readonly similarity?: number;
}

/** Tools found by keywords that are ranked, the best of them, and as many found by meaning. */
export const RANKED_MAX = 1000;

/**
 * What keywords add to a cosine, as a share of the distance between the model's usual cosine of related texts and its boundary. Chosen on
 * the shown sets and on versions of them made harder (docs/tools/search.md): a sum stood every test better than ranks did.
 */
const KEYWORD_SHARE = 1;
/** Added where the query is the id of the tool. */
const SAME_ID = 1000;

/** By keywords alone: every tool with a word of the query. */
export function rankByKeywords({ tools, keywords, query }: Pick<Found, 'tools' | 'keywords' | 'query'>): RankedTool[] {
  const own = tools.slotOf(query.trim());
  const found: RankedTool[] = [];
  for (const slot of bestHits(keywords, RANKED_MAX)) {
    const tool = tools.tool(slot);
    if (tool === undefined) continue;
    found.push({ tool, score: (keywords.scores[slot] as number) + (slot === own ? SAME_ID : 0) });
  }
  return found.sort(byScore);
}

/** What a ranking by meaning and keywords knows. */
export interface Found {
  readonly tools: TenantTools;
  readonly keywords: KeywordScores;
  /** By tool id. */
  readonly cosines: ReadonlyMap<string, number>;
  readonly traits: EmbedderTraits;
  /** Least similarity of what no word was found of. */
  readonly threshold: number;
  readonly query: string;
  /** Slots that may be shown; all when absent. */
  readonly allowed?: Uint8Array | undefined;
}

/** By the sum of cosine and keyword score: tools with a word of the query, and those at least as similar as the threshold. */
export function rankByBoth({ tools, keywords, cosines, traits, threshold, query, allowed }: Found): RankedTool[] {
  const similarity = similarityOf(traits);
  const cosineMin = similarity.cosineOf(threshold);
  const share = KEYWORD_SHARE * Math.max(0.05, traits.relatedCosine - traits.boundaryCosine);
  const own = tools.slotOf(query.trim());
  const found: RankedTool[] = [];
  const add = (slot: number, tool: ToolVersion, cosine: number | undefined): void => {
    const keyword = keywords.scores[slot] ?? 0;
    const score = (cosine ?? traits.boundaryCosine) + share * keyword + (slot === own ? SAME_ID : 0);
    found.push({ tool, score, ...similarOf(similarity, cosine) });
  };
  for (const [toolId, cosine] of cosines) {
    const slot = tools.slotOf(toolId);
    const tool = slot === undefined ? undefined : tools.tool(slot);
    if (slot === undefined || tool === undefined || allowed?.[slot] === 0) continue;
    if (cosine >= cosineMin || (keywords.scores[slot] ?? 0) > 0) add(slot, tool, cosine);
  }
  for (const slot of bestHits(keywords, RANKED_MAX)) {
    const tool = tools.tool(slot);
    if (tool !== undefined && !cosines.has(tool.manifest.tool_id)) add(slot, tool, undefined);
  }
  return found.sort(byScore);
}

const similarOf = (similarity: Similarity, cosine: number | undefined): { readonly similarity?: number } =>
  cosine === undefined ? {} : { similarity: similarity.of(cosine) };

/** By id where scores are equal, so that pages are stable. */
export function byScore(one: RankedTool, other: RankedTool): number {
  if (one.score !== other.score) return other.score - one.score;
  return one.tool.manifest.tool_id < other.tool.manifest.tool_id ? -1 : 1;
}
