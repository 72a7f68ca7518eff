import { KiB } from '@sallyport/std/bytes';

/** Enforces an average rate: bytes passed on too early are compensated by waiting. */
export interface TokenBucket {
  /** Takes the bytes that arrived. @returns milliseconds to wait before more are read; 0 for none */
  take(bytes: number): number;
}

const BITS_PER_BYTE = 8;
const BITS_PER_MEGABIT = 1_000_000;
/** Unused rate that may be caught up, in ms: the lateness of a timer. */
const BURST_MS = 20;
const BURST_BYTES_MIN = 16 * KiB;

/**
 * @param megabitsPerSecond more than 0
 * @param now milliseconds of a clock that never goes back
 */
export function tokenBucket(megabitsPerSecond: number, now: () => number = () => performance.now()): TokenBucket {
  const bytesPerMs = (megabitsPerSecond * BITS_PER_MEGABIT) / BITS_PER_BYTE / 1000;
  const burst = Math.max(BURST_BYTES_MIN, bytesPerMs * BURST_MS);
  let tokens = burst;
  let filledAt = now();
  return {
    take(bytes) {
      const at = now();
      tokens = Math.min(burst, tokens + (at - filledAt) * bytesPerMs) - bytes;
      filledAt = at;
      return tokens >= 0 ? 0 : -tokens / bytesPerMs;
    },
  };
}
