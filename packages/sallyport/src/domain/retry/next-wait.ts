import { type Backoff, backoffMs } from './backoff.ts';

/** How often and how long attempts may follow one another. */
export interface RetryBudget extends Backoff {
  /** Attempts in all, 1 or more. */
  readonly attemptsMax: number;
}

/** Where a call stands after a failed attempt. */
export interface RetryStanding {
  /** Attempts made so far, 1 or more. */
  readonly attempts: number;
  /** Time in which another attempt could begin, ms; 0 or less for none. */
  readonly leftMs: number;
  /** What the service asked for (RFC 9110 §10.2.3), ms. */
  readonly retryAfterMs?: number | undefined;
  /** The wait before the last attempt, ms. */
  readonly previousMs?: number | undefined;
}

/**
 * Wait before the next attempt, in ms; undefined when there is none. It is never shorter than what the service asked for,
 * and an attempt that could only begin when the time is up is not waited for.
 */
export function nextWait(budget: RetryBudget, standing: RetryStanding, random: () => number): number | undefined {
  const { attempts, leftMs, retryAfterMs = 0, previousMs } = standing;
  if (attempts >= budget.attemptsMax) return undefined;
  const wait = Math.max(backoffMs(budget, attempts, previousMs, random), retryAfterMs);
  return wait < leftMs ? wait : undefined;
}
