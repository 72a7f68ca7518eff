import type { RateLimit } from '../../api/schemas/tool-manifest.ts';

/** Token buckets by key (EXT-02). */
export interface RateLimiter {
  /**
   * Takes one token from the bucket of `key`; a new bucket is full.
   * @returns 0 when it was taken, else ms until the next token (nothing was taken)
   */
  take(key: string, limit: RateLimit): number | Promise<number>;
}
