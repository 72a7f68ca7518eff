import type { Rate } from '../domain/rate/rate.ts';

/** Counts calls against rates, by key (EXT-02). */
export interface RateLimiter {
  /**
   * One call asks to pass under `key`. Each algorithm of a key counts for itself.
   * @returns 0 when it passes, else whole ms after which one passes, if no other comes first (nothing was counted)
   * @throws E3812 when the count cannot be reached
   */
  take(key: string, rate: Rate): number | Promise<number>;
  /**
   * Ms for which it is known here that no call passes; 0 when that is not known. Asks no store.
   */
  knownWaitMs(key: string, rate: Rate): number;
  /**
   * Gives back what a call has just taken that does not run after all.
   * @throws E3812 when the count cannot be reached
   */
  giveBack(key: string, rate: Rate): void | Promise<void>;
}

/** Counts that are kept until they are removed. */
export interface StoredRates extends RateLimiter {
  /** Removes at most `limit` keys whose count equals that of a new key. @returns how many; 0 when none is left */
  forget(limit: number): Promise<number>;
}
