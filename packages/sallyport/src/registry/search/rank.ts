import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { EmbedderTraits } from '../embedder.port.ts';
import { bestHits } from './best-hits.ts';
import type { KeywordScores } from './keywords/keyword-index.ts';
import type { TenantTools } from './tenant-tools.ts';
import { BOUNDARY_SIMILARITY, RELATED_SIMILARITY, type Similarity, similarityOf } from './vectors/similarity.ts';

/** One tool that was found. */
export interface RankedTool {
  readonly tool: ToolVersion;
  /** Orders one answer. */
  readonly score: number;
  /** 0 to 1; undefined for a tool without a vector, or without search by meaning. */
  readonly similarity?: number;
}

/** Most tools ranked of those found by keywords, and as many of those found by meaning. */
export const RANKED_MAX = 1000;

/**
 * Weight of keywords added to a cosine, as a share of the distance between the model's usual cosine of related texts
 * and its boundary. Chosen on the shown sets and on harder versions of them (docs/tools/search.md): a sum did better
 * than ranks in every test.
 */
const KEYWORD_SHARE = 1;
/** Keyword score that corresponds to a difference of 1 in similarity. */
const KEYWORDS_PER_SIMILARITY = 1 / (RELATED_SIMILARITY - BOUNDARY_SIMILARITY);
/** Added when the query is the id of the tool. */
const SAME_ID = 1000;

/** Ranks by keywords alone: every tool with a word of the query. */
export function rankByKeywords({
  tools,
  keywords,
  query,
  boosts,
}: Pick<Found, 'tools' | 'keywords' | 'query' | 'boosts'>): RankedTool[] {
  const own = tools.slotOf(query.trim());
  const found: RankedTool[] = [];
  for (const slot of bestHits(keywords, RANKED_MAX)) {
    const tool = tools.tool(slot);
    if (tool === undefined) continue;
    const score = (keywords.scores[slot] as number) + boostOf(tool, boosts) + (slot === own ? SAME_ID : 0);
    found.push({ tool, score });
  }
  return found.sort(byScore);
}

/** Inputs of a ranking by meaning and keywords. */
export interface Found {
  readonly tools: TenantTools;
  readonly keywords: KeywordScores;
  /** By tool id. */
  readonly cosines: ReadonlyMap<string, number>;
  readonly traits: EmbedderTraits;
  /** Least similarity of a tool without a word of the query. */
  readonly threshold: number;
  readonly query: string;
  /** Added to similarities, by tool id. */
  readonly boosts?: ReadonlyMap<string, number>;
  /** Slots that may be shown; default: all. */
  readonly allowed?: Uint8Array | undefined;
}

/**
 * Ranks by the sum of cosine and keyword score: tools with a word of the query, and tools at least as similar as the
 * threshold.
 */
export function rankByBoth({
  tools,
  keywords,
  cosines,
  traits,
  threshold,
  query,
  boosts,
  allowed,
}: Found): RankedTool[] {
  const similarity = similarityOf(traits);
  const cosineMin = similarity.cosineOf(threshold);
  const share = KEYWORD_SHARE * Math.max(0.05, traits.relatedCosine - traits.boundaryCosine);
  const own = tools.slotOf(query.trim());
  const found: RankedTool[] = [];
  const add = (slot: number, tool: ToolVersion, cosine: number | undefined): void => {
    const keyword = (keywords.scores[slot] ?? 0) + boostOf(tool, boosts);
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

const boostOf = ({ manifest }: ToolVersion, boosts: Found['boosts']): number =>
  (boosts?.get(manifest.tool_id) ?? 0) * KEYWORDS_PER_SIMILARITY;

const similarOf = (similarity: Similarity, cosine: number | undefined): { readonly similarity?: number } =>
  cosine === undefined ? {} : { similarity: similarity.of(cosine) };

/** Equal scores are ordered by id, so that pages are stable. */
export function byScore(one: RankedTool, other: RankedTool): number {
  if (one.score !== other.score) return other.score - one.score;
  return one.tool.manifest.tool_id < other.tool.manifest.tool_id ? -1 : 1;
}
