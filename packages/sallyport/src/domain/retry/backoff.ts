/** Kinds of jitter, so that callers that failed together do not retry together (000 §3.4.3). */
export const JITTERS = ['none', 'full', 'equal', 'decorrelated'] as const;
/** One kind of jitter. */
export type Jitter = (typeof JITTERS)[number];

/** Lengths of the waits. */
export interface Backoff {
  readonly jitter: Jitter;
  /** Wait before the second attempt, without jitter, ms. */
  readonly baseMs: number;
  /** Longest wait, ms. */
  readonly maxMs: number;
}

/** More doublings than this always give the longest wait. */
const DOUBLINGS_MAX = 52;

/**
 * Wait before the next attempt, in ms, 0 to `maxMs`.
 * @param failed attempts that failed so far, 1 or more
 * @param previousMs the wait before the last attempt; undefined before the second
 * @param random at least 0, below 1
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
