/** Time as a dependency, so that code that depends on it can be tested without waiting. */
export interface Clock {
  /** Wall time in ms since 1970, UTC. */
  now(): number;
  /** Monotonic time in ms with fractions; only differences are meaningful. */
  monotonic(): number;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
