import type { RateAlgorithm } from '../../../api/schemas/tool-manifest.ts';

/** How many calls may pass, and by which rule (EXT-02). */
export interface Rate {
  readonly algorithm: RateAlgorithm;
  /** Calls in 60 s. */
  readonly per_minute: number;
  /** Calls that a token bucket holds; the other algorithms have none. */
  readonly burst: number;
}

/** What is known of earlier calls under one key. Which members count depends on the algorithm. */
export interface RateState {
  /** Ms of the last take (token bucket), of the last call (leaky bucket), of the window's start (fixed window). */
  readonly at: number;
  /** Tokens left (token bucket), calls in the window (fixed window). */
  readonly amount: number;
  /** Rate since `at` (token bucket). */
  readonly perMinute: number;
  /** Calls that passed, by whole second, the oldest first (sliding window). */
  readonly seconds: readonly (readonly [second: number, calls: number])[];
  /** Ms from which the state equals none. */
  readonly expiresAt: number;
}

/** The state after a call asked, and ms to wait, with fractions; 0 when the call passed. */
export interface Taken {
  readonly state: RateState;
  readonly waitMs: number;
}

/** The time that all rates are counted over, in ms. */
export const WINDOW_MS = 60_000;
/** A part that was computed in fractions counts as whole despite rounding. */
export const WHOLE = 1 - 1e-9;

type Algorithm = (held: RateState | undefined, rate: Rate, now: number) => Taken;

/** Holds up to `burst` tokens, which come evenly; a call takes one. A new bucket is full. */
const tokenBucket: Algorithm = (held, { burst, per_minute }, now) => {
  // Tokens since the last take came at the old rate.
  const level =
    held === undefined ? burst : Math.min(burst, held.amount + ((now - held.at) * held.perMinute) / WINDOW_MS);
  const waitMs = level >= WHOLE ? 0 : ((WHOLE - level) * WINDOW_MS) / per_minute;
  const amount = waitMs > 0 ? level : level - 1;
  const expiresAt = now + ((burst - amount) * WINDOW_MS) / per_minute;
  return { state: stateAt(now, per_minute, { amount, expiresAt }), waitMs };
};

/** Calls pass one by one, 60 s / `per_minute` apart. */
const leakyBucket: Algorithm = (held, { per_minute }, now) => {
  const apartMs = WINDOW_MS / per_minute;
  const waitMs = held === undefined ? 0 : Math.max(0, apartMs * WHOLE - (now - held.at));
  const at = held === undefined || waitMs === 0 ? now : held.at;
  return { state: stateAt(at, per_minute, { expiresAt: at + apartMs }), waitMs };
};

/** `per_minute` calls pass in each window of 60 s; a window begins with the first call after the one before it. */
const fixedWindow: Algorithm = (held, { per_minute }, now) => {
  const isOpen = held !== undefined && now - held.at < WINDOW_MS;
  const at = isOpen ? held.at : now;
  const calls = isOpen ? held.amount : 0;
  const waitMs = calls < per_minute ? 0 : at + WINDOW_MS - now;
  const amount = waitMs > 0 ? calls : calls + 1;
  return { state: stateAt(at, per_minute, { amount, expiresAt: at + WINDOW_MS }), waitMs };
};

/** Seconds of which calls are counted: 60, and the one that has begun. */
const COUNTED_SECONDS = WINDOW_MS / 1000 + 1;

/**
 * At most `per_minute` calls pass in any 60 s. Calls are counted by whole seconds: one counts until all of its second
 * lies 60 s back.
 */
const slidingWindow: Algorithm = (held, { per_minute }, now) => {
  const second = Math.floor(now / 1000);
  const counted = (held?.seconds ?? []).filter(([each]) => each > second - COUNTED_SECONDS);
  const calls = counted.reduce((sum, [, each]) => sum + each, 0);
  const passes = calls < per_minute;
  const seconds = passes ? withOneMore(counted, second) : counted;
  const expiresAt = ((seconds.at(-1)?.[0] ?? second) + COUNTED_SECONDS) * 1000;
  const waitMs = passes ? 0 : (secondToLeave(counted, calls - per_minute + 1) + COUNTED_SECONDS) * 1000 - now;
  return { state: stateAt(now, per_minute, { seconds, expiresAt }), waitMs };
};

function withOneMore(seconds: RateState['seconds'], second: number): RateState['seconds'] {
  const last = seconds.at(-1);
  return last?.[0] === second ? [...seconds.slice(0, -1), [second, last[1] + 1]] : [...seconds, [second, 1]];
}

/** The second with which so many of the oldest calls are no longer counted. */
function secondToLeave(seconds: RateState['seconds'], count: number): number {
  let left = count;
  for (const [second, calls] of seconds) {
    left -= calls;
    if (left <= 0) return second;
  }
  return seconds.at(-1)?.[0] ?? 0;
}

const stateAt = (at: number, perMinute: number, more: Partial<RateState>): RateState => ({
  at,
  amount: 0,
  perMinute,
  seconds: [],
  expiresAt: at,
  ...more,
});

const ALGORITHMS: Readonly<Record<RateAlgorithm, Algorithm>> = {
  token_bucket: tokenBucket,
  leaky_bucket: leakyBucket,
  fixed_window: fixedWindow,
  sliding_window: slidingWindow,
};

/**
 * One call asks to pass.
 * @param now ms of any clock; a clock that goes back stands still
 */
export function takeRateOnce(held: RateState | undefined, rate: Rate, now: number): Taken {
  return ALGORITHMS[rate.algorithm](held, rate, Math.max(now, held?.at ?? now));
}

/** What is left of a state when a call that has just taken does not run. */
export function giveRateBack(held: RateState, { algorithm, per_minute, burst }: Rate): RateState {
  switch (algorithm) {
    case 'token_bucket':
      return { ...held, amount: Math.min(burst, held.amount + 1) };
    case 'leaky_bucket':
      return { ...held, at: held.at - WINDOW_MS / per_minute };
    case 'fixed_window':
      return { ...held, amount: Math.max(0, held.amount - 1) };
    case 'sliding_window': {
      const [second, calls] = held.seconds.at(-1) ?? [0, 0];
      const rest = held.seconds.slice(0, -1);
      return { ...held, seconds: calls > 1 ? [...rest, [second, calls - 1]] : rest };
    }
  }
}

/** The wait in whole ms, rounded up: after it, and not before, a call passes. */
export const wholeMs = (waitMs: number): number => (waitMs <= 0 ? 0 : Math.max(1, Math.ceil(waitMs)));
