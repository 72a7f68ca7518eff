import { LRUCache } from 'lru-cache';
import type { CheckedEmbedder } from './checked-embedder.ts';
import { queryTexts } from './query-texts.ts';

/** Most queries whose vectors are cached: pages of one search, and repeated queries of agents. */
const QUERIES_KEPT_MAX = 256;
/**
 * Longest wait for the vectors of a query, in ms; after that only keywords are used. Covers the start of a local model.
 */
const QUERY_TIMEOUT_MS = 5000;

/** Vectors of what is searched for. */
export interface QueryVectors {
  /**
   * One or more vectors, see {@link queryTexts}; empty for a meaningless query.
   * @throws ToolLayerError E3005
   */
  of(query: string): Promise<readonly Float32Array[]>;
}

/** Asks the embedder once for each query. */
export function queryVectors(embedder: CheckedEmbedder): QueryVectors {
  const kept = new LRUCache<string, Promise<readonly Float32Array[]>>({ max: QUERIES_KEPT_MAX });
  return {
    of(query) {
      const texts = queryTexts(query);
      const [whole] = texts;
      if (whole === undefined) return Promise.resolve([]);
      const known = kept.get(whole);
      if (known !== undefined) return known;
      const asked = embedder.embed(texts, QUERY_TIMEOUT_MS);
      kept.set(whole, asked);
      // Only successes are cached. Waiting callers get the failure itself.
      asked.catch(() => {
        if (kept.peek(whole) === asked) kept.delete(whole);
      });
      return asked;
    },
  };
}
