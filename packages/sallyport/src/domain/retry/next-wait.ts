import { type Backoff, backoffMs } from './backoff.ts';

/** Limits on the number and the delays of attempts. */
export interface RetryBudget extends Backoff {
  /** Attempts in all, 1 or more. */
  readonly attemptsMax: number;
}

/** State of a call after a failed attempt. */
export interface RetryStanding {
  /** Attempts made so far, 1 or more. */
  readonly attempts: number;
  /** Time left in which another attempt may begin, ms; 0 or less for none. */
  readonly leftMs: number;
  /** Retry-After of the service (RFC 9110 §10.2.3), ms. */
  readonly retryAfterMs?: number | undefined;
  /** The wait before the last attempt, ms. */
  readonly previousMs?: number | undefined;
}

/**
 * Wait before the next attempt, in ms; undefined when there is none. It is never shorter than the service's
 * Retry-After, and no wait begins when the next attempt would start after the time is up.
 */
export function nextWait(budget: RetryBudget, standing: RetryStanding, random: () => number): number | undefined {
  const { attempts, leftMs, retryAfterMs = 0, previousMs } = standing;
  if (attempts >= budget.attemptsMax) return undefined;
  const wait = Math.max(backoffMs(budget, attempts, previousMs, random), retryAfterMs);
  return wait < leftMs ? wait : undefined;
}
