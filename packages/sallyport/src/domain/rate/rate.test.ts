import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RateAlgorithm } from '../../../api/schemas/tool-manifest.ts';
import { type Rate, type RateState, takeRateOnce, WINDOW_MS, wholeMs } from './rate.ts';

const PER_MINUTE = fc.integer({ min: 1, max: 200 });
const BURST = fc.integer({ min: 1, max: 20 });
const PAUSES = fc.array(fc.oneof(fc.nat(3), fc.nat(1_500), fc.nat(100_000)), { minLength: 1, maxLength: 300 });
/** Pauses before calls that mostly come as soon as the limit allows. */
const EAGER = fc.array(fc.oneof(fc.constant(0), fc.constant(0), fc.nat(5_000)), { minLength: 1, maxLength: 300 });

/** Times at which calls passed, for the pauses before the calls. */
function passed(rate: Rate, pauses: readonly number[], isEager: boolean): number[] {
  const times: number[] = [];
  let now = 123;
  let state: RateState | undefined;
  for (const pauseMs of pauses) {
    now += pauseMs;
    let taken = takeRateOnce(state, rate, now);
    if (taken.waitMs > 0 && isEager) {
      now += wholeMs(taken.waitMs);
      taken = takeRateOnce(taken.state, rate, now);
      expect(taken.waitMs).toBe(0);
    }
    state = taken.state;
    if (taken.waitMs === 0) times.push(now);
  }
  return times;
}

/** The largest number of calls that may pass within a span of time, its two ends included. */
const MOST: Readonly<Record<RateAlgorithm, (rate: Rate, ms: number) => number>> = {
  token_bucket: ({ burst, per_minute }, ms) => burst + (ms * per_minute) / WINDOW_MS,
  leaky_bucket: ({ per_minute }, ms) => 1 + (ms * per_minute) / WINDOW_MS,
  // A window may end just after the first of these calls.
  fixed_window: ({ per_minute }, ms) => per_minute * (Math.floor(ms / WINDOW_MS) + 2),
  sliding_window: ({ per_minute }, ms) => per_minute * (Math.floor(ms / WINDOW_MS) + 1),
};

test.each(RateAlgorithm.enum)('EXT-02.4 in no time more calls pass than %s allows', (algorithm) => {
  const check = (pauses: readonly number[], per_minute: number, burst: number, isEager: boolean): void => {
    const rate = { algorithm, per_minute, burst };
    const times = passed(rate, pauses, isEager);
    for (const [first, from] of times.entries()) {
      for (let last = first; last < times.length; last += 1) {
        const most = MOST[algorithm](rate, (times[last] ?? 0) - from);
        expect(last - first + 1).toBeLessThanOrEqual(most + 1e-6);
      }
    }
  };
  const pauses = fc.oneof(PAUSES, EAGER);
  fc.assert(fc.property(pauses, PER_MINUTE, BURST, fc.boolean(), check), { numRuns: 60 });
});

test.each(RateAlgorithm.enum)('EXT-02 a wait of %s is neither too short nor too long', (algorithm) => {
  const check = (pauses: readonly number[], per_minute: number, burst: number): void => {
    const rate = { algorithm, per_minute, burst };
    let now = 1_700_000_000_123;
    let state: RateState | undefined;
    for (const pauseMs of pauses) {
      now += pauseMs;
      const taken = takeRateOnce(state, rate, now);
      const waitMs = wholeMs(taken.waitMs);
      if (waitMs > 0) expect(takeRateOnce(taken.state, rate, now + waitMs).waitMs).toBe(0);
      if (waitMs > 1) expect(takeRateOnce(taken.state, rate, now + waitMs - 1).waitMs).toBeGreaterThan(0);
      state = taken.state;
    }
  };
  fc.assert(fc.property(PAUSES, PER_MINUTE, BURST, check));
});

test.each(RateAlgorithm.enum)('EXT-02 a state of %s that expired is worth none', (algorithm) => {
  const check = (pauses: readonly number[], per_minute: number, burst: number): void => {
    const rate = { algorithm, per_minute, burst };
    let now = 0;
    let state: RateState | undefined;
    for (const pauseMs of pauses) {
      now += pauseMs;
      state = takeRateOnce(state, rate, now).state;
    }
    let held = state;
    let fresh: RateState | undefined;
    const later = Math.ceil(held?.expiresAt ?? 0) + 1;
    for (let call = 0; call < 30; call += 1) {
      const [old, anew] = [takeRateOnce(held, rate, later + call), takeRateOnce(fresh, rate, later + call)];
      expect(wholeMs(old.waitMs)).toBe(wholeMs(anew.waitMs));
      [held, fresh] = [old.state, anew.state];
    }
  };
  fc.assert(fc.property(PAUSES, PER_MINUTE, BURST, check));
});
