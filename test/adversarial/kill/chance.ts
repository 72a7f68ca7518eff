/** Random numbers that are the same again for the same seed. */
export interface Chance {
  readonly seed: number;
  /** A number from 0 up to, not including, `most`. */
  below(most: number): number;
  /** The same values in another order. */
  shuffled<Value>(values: readonly Value[]): Value[];
}

/** Environment variable with the seed, to repeat a run. */
export const SEED_VARIABLE = 'SALLYPORT_KILL_SEED';

/** The seed that the environment names, or a new one. */
export function chosenSeed(): number {
  const given = Number.parseInt(process.env[SEED_VARIABLE] ?? '', 10);
  return Number.isInteger(given) ? given : Math.floor(Math.random() * 2 ** 31);
}

/** The random generator mulberry32: small, and uniform enough to choose moments. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    seed,
    below: (most) => next() * most,
    shuffled(values) {
      const order = values.map((value) => ({ value, place: next() }));
      return order.sort((one, other) => one.place - other.place).map(({ value }) => value);
    },
  };
}
