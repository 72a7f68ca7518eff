/** How chance is mixed into the wait, so that callers who failed together do not come back together (000 §3.4.3). */
export const JITTERS = ['none', 'full', 'equal', 'decorrelated'] as const;
/** One of them. */
export type Jitter = (typeof JITTERS)[number];

/** How long the waits are. */
export interface Backoff {
  readonly jitter: Jitter;
  /** Wait before the second attempt, before chance, ms. */
  readonly baseMs: number;
  /** No wait is longer, ms. */
  readonly maxMs: number;
}

/** Beyond this power of two every wait is the longest. */
const DOUBLINGS_MAX = 52;

/**
 * Wait before the next attempt, in ms, 0 to `maxMs`.
 * @param failed attempts that failed so far, 1 or more
 * @param previousMs the wait before the last attempt; undefined before the second
 * @param random 0 up to 1, without 1
 */
export function backoffMs(
  backoff: Backoff,
  failed: number,
  previousMs: number | undefined,
  random: () => number,
): number {
  const { jitter, baseMs, maxMs } = backoff;
  const doubled = Math.min(maxMs, baseMs * 2 ** Math.min(failed - 1, DOUBLINGS_MAX));
  switch (jitter) {
    case 'none':
      return doubled;
    case 'full':
      return random() * doubled;
    case 'equal':
      return doubled / 2 + (random() * doubled) / 2;
    case 'decorrelated': {
      const most = Math.max(baseMs, (previousMs ?? baseMs) * 3);
      return Math.min(maxMs, baseMs + random() * (most - baseMs));
    }
  }
}
