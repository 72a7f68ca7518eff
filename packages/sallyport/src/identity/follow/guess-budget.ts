import type { Clock } from '@sallyport/std/clock';
import type { Log } from '../../telemetry/log.ts';

/** Unknown keys that are answered each second, on average and at once. */
const GUESSES_PER_SECOND = 20;
const BURST = 100;
/** Least time between two lines of the log about guesses. */
const LOG_MS = 60_000;

/**
 * Bounds how fast unknown keys are answered, all callers together; a known key never waits for it. Says in the log that
 * keys are guessed, once a minute.
 * @returns a function that takes one from the budget, and says whether there was one
 */
export function guessBudget(clock: Clock, log: Log): () => boolean {
  let left = BURST;
  let filledAt = clock.monotonic();
  let loggedAt = Number.NEGATIVE_INFINITY;
  let refused = 0;
  return () => {
    const now = clock.monotonic();
    left = Math.min(BURST, left + ((now - filledAt) / 1000) * GUESSES_PER_SECOND);
    filledAt = now;
    if (left >= 1) {
      left -= 1;
      return true;
    }
    refused += 1;
    if (now - loggedAt >= LOG_MS) {
      log.warn('api-keys-guessed', { refused });
      loggedAt = now;
      refused = 0;
    }
    return false;
  };
}
