import { type Clock, systemClock } from '@sallyport/std/clock';
import type { RateLimit } from '../../../api/schemas/tool-manifest.ts';
import type { RateLimiter } from '../../external/rate-limiter.port.ts';

/** Default number of buckets held at once; some 20 MB. */
const BUCKETS_MAX = 100_000;
/** Buckets examined for each new one when the limit is reached. */
const SWEPT_PER_BUCKET = 4;
/** A token that was refilled in fractions counts as whole despite rounding. */
const WHOLE_TOKEN = 1 - 1e-9;

interface Bucket {
  tokens: number;
  /** Monotonic ms of the last refill. */
  at: number;
  perMs: number;
  burst: number;
}

/**
 * Token buckets in this process, O(1) for each take. A full bucket equals none, so full ones are dropped first; when
 * every bucket examined is in use, the one that would be full soonest goes, which gives its key back at most one burst.
 * @param options.bucketsMax buckets held at once, 100 000 by default
 */
export function memoryRateLimiter(
  options: { readonly clock?: Clock; readonly bucketsMax?: number } = {},
): RateLimiter & { take(key: string, limit: RateLimit): number } {
  const { clock = systemClock, bucketsMax = BUCKETS_MAX } = options;
  const buckets = new Map<string, Bucket>();

  return {
    take(key, limit) {
      const now = clock.monotonic();
      let bucket = buckets.get(key);
      if (bucket === undefined) {
        if (buckets.size >= bucketsMax) makeRoom(buckets, now);
        bucket = { tokens: limit.burst, at: now, perMs: limit.per_minute / 60_000, burst: limit.burst };
        buckets.set(key, bucket);
      } else {
        refill(bucket, limit, now);
      }
      if (bucket.tokens >= WHOLE_TOKEN) {
        bucket.tokens -= 1;
        return 0;
      }
      return Math.max(1, Math.ceil((1 - bucket.tokens) / bucket.perMs));
    },
  };
}

/** Tokens since the last take came at the old rate; from now on the limit of this take applies. */
function refill(bucket: Bucket, limit: RateLimit, now: number): void {
  bucket.tokens = Math.min(limit.burst, bucket.tokens + Math.max(0, now - bucket.at) * bucket.perMs);
  bucket.at = now;
  bucket.perMs = limit.per_minute / 60_000;
  bucket.burst = limit.burst;
}

function makeRoom(buckets: Map<string, Bucket>, now: number): void {
  const sizeBefore = buckets.size;
  let soonest = '';
  let soonestMs = Number.POSITIVE_INFINITY;
  let left = SWEPT_PER_BUCKET;
  for (const [key, bucket] of buckets) {
    if (left-- === 0) break;
    const fullInMs = (bucket.burst - bucket.tokens) / bucket.perMs - (now - bucket.at);
    buckets.delete(key);
    if (fullInMs <= 0) continue;
    buckets.set(key, bucket);
    if (fullInMs < soonestMs) [soonest, soonestMs] = [key, fullInMs];
  }
  if (buckets.size === sizeBefore) buckets.delete(soonest);
}
