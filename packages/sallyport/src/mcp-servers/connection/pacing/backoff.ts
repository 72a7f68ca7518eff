import { backoffMs as waitMs } from '../../../domain/retry/backoff.ts';

/** Pauses before a broken upstream is tried again. */
export interface BackoffBounds {
  /** Before the first new try, ms. */
  readonly firstMs: number;
  /** Never longer than this, ms. */
  readonly maxMs: number;
}

/**
 * Pause before try number `attempt` (0 is the first): doubles each time, with a random part of up to a half, so that
 * upstreams that died together do not return together.
 * @param random 0 (inclusive) to 1 (exclusive)
 */
export function backoffMs(attempt: number, { firstMs, maxMs }: BackoffBounds, random: () => number): number {
  return Math.round(waitMs({ jitter: 'equal', baseMs: firstMs, maxMs }, attempt + 1, undefined, random));
}
