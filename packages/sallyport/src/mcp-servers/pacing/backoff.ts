import { backoffMs as waitMs } from '../../domain/retry/backoff.ts';

/** When a broken upstream is tried again. */
export interface BackoffBounds {
  /** Before the first new try, ms. */
  readonly firstMs: number;
  /** Never longer than this, ms. */
  readonly maxMs: number;
}

/**
 * Pause before try number `attempt` (0 is the first): doubles each time, and takes a random part of at least a half, so
 * that upstreams which died together do not come back together.
 * @param random 0 (inclusive) to 1 (exclusive)
 */
export function backoffMs(attempt: number, { firstMs, maxMs }: BackoffBounds, random: () => number): number {
  return Math.round(waitMs({ jitter: 'equal', baseMs: firstMs, maxMs }, attempt + 1, undefined, random));
}
