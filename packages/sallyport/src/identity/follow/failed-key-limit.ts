import type { Clock } from '@sallyport/std/clock';
import type { Log } from '../../telemetry/log.ts';

/** Unknown keys answered per second, on average and in a burst. */
const GUESSES_PER_SECOND = 20;
const BURST = 100;
/** Least time between two log lines about guesses, in ms. */
const LOG_MS = 60_000;

/**
 * Limits how fast unknown keys are answered, across all callers; a known key never waits. Logs guessing once a minute.
 * @returns a function that takes one from the budget, and returns whether there was one
 */
export function failedKeyLimit(clock: Clock, log: Log): () => boolean {
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
