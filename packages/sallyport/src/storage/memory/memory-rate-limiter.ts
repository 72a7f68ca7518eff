import { type Clock, systemClock } from '@sallyport/std/clock';
import { giveRateBack, type Rate, type RateState, takeRateOnce, wholeMs } from '../../domain/rate/rate.ts';
import type { RateLimiter } from '../../external/rate-limiter.port.ts';

/** Default number of keys held at once; some 20 MB. */
const KEYS_MAX = 100_000;
/** Keys examined for each new one when the limit is reached. */
const SWEPT_PER_KEY = 4;

/**
 * Rates counted in this process. A state that expired equals none, so expired ones are dropped first; when every one
 * examined is in use, the one that would expire soonest goes, which gives its key back at most what it had at first.
 * @param options.keysMax keys held at once, 100 000 by default
 */
export function memoryRateLimiter(
  options: { readonly clock?: Clock; readonly keysMax?: number } = {},
): RateLimiter & { take(key: string, rate: Rate): number } {
  const { clock = systemClock, keysMax = KEYS_MAX } = options;
  const states = new Map<string, RateState>();
  const placeOf = (key: string, rate: Rate): string => `${rate.algorithm}\n${key}`;
  return {
    take(key, rate) {
      const now = clock.monotonic();
      const place = placeOf(key, rate);
      const held = states.get(place);
      if (held === undefined && states.size >= keysMax) makeRoom(states, now);
      const { state, waitMs } = takeRateOnce(held, rate, now);
      states.set(place, state);
      return wholeMs(waitMs);
    },
    knownWaitMs: (key, rate) => wholeMs(takeRateOnce(states.get(placeOf(key, rate)), rate, clock.monotonic()).waitMs),
    giveBack(key, rate) {
      const place = placeOf(key, rate);
      const held = states.get(place);
      if (held !== undefined) states.set(place, giveRateBack(held, rate));
    },
  };
}

function makeRoom(states: Map<string, RateState>, now: number): void {
  const sizeBefore = states.size;
  let soonest = '';
  let soonestAt = Number.POSITIVE_INFINITY;
  let left = SWEPT_PER_KEY;
  for (const [place, state] of states) {
    if (left-- === 0) break;
    states.delete(place);
    if (state.expiresAt <= now) continue;
    states.set(place, state);
    if (state.expiresAt < soonestAt) [soonest, soonestAt] = [place, state.expiresAt];
  }
  if (states.size === sizeBefore) states.delete(soonest);
}
