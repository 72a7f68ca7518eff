/** How a window forgets: after so many calls, or after so many seconds. */
export type WindowType = 'count_based' | 'time_based';

/** How a half-open circuit tries again: with a growing share of the calls, or with as many as it may at once. */
export type HalfOpenStrategy = 'canary' | 'all_or_nothing';

/** When a circuit opens, how long it stays open, and how it closes again (CIR-01, CIR-03). */
export interface CircuitTerms {
  /** Percent of failed calls at which it opens, 0 to 100; at 0 the first failure does. */
  readonly failureRateThreshold: number;
  /** The same for slow calls. */
  readonly slowCallRateThreshold: number;
  /** A call that takes longer is slow. */
  readonly slowCallMs: number;
  readonly windowType: WindowType;
  /** Calls or seconds, by the type. */
  readonly windowSize: number;
  /** With fewer calls in the window nothing is decided. */
  readonly callsMin: number;
  /** How long it stays open. */
  readonly waitMs: number;
  /** Trial calls that have to end before it closes. */
  readonly trialCalls: number;
  readonly halfOpenStrategy: HalfOpenStrategy;
}

/** The defaults of 000 §3.3.5. */
export const CIRCUIT_DEFAULTS: CircuitTerms = {
  failureRateThreshold: 50,
  slowCallRateThreshold: 100,
  slowCallMs: 5_000,
  windowType: 'count_based',
  windowSize: 100,
  callsMin: 10,
  waitMs: 60_000,
  trialCalls: 10,
  halfOpenStrategy: 'canary',
};

/** Whether two terms say the same. */
export function isSameTerms(one: CircuitTerms, other: CircuitTerms): boolean {
  return one === other || (Object.keys(one) as (keyof CircuitTerms)[]).every((name) => one[name] === other[name]);
}
