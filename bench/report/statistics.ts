/**
 * The middle of some values; of an even number the mean of the two in the middle.
 * @returns undefined when there are none
 */
export function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? undefined : (lower + upper) / 2;
}

/**
 * The smallest value that is not exceeded by the given share of all values (nearest rank).
 * @param sorted in ascending order, at least one
 * @param share 0 to 1
 */
export function percentile(sorted: Float64Array, share: number): number {
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** Times in the order in which they came; grows as needed without a piece of garbage for each. */
export interface TimeSeries {
  add(time: number): void;
  count(): number;
  /** All times in ascending order. */
  sorted(): Float64Array;
}

export function timeSeries(): TimeSeries {
  let times = new Float64Array(FIRST_CAPACITY);
  let count = 0;
  return {
    add(time) {
      if (count === times.length) {
        const larger = new Float64Array(times.length * 2);
        larger.set(times);
        times = larger;
      }
      times[count] = time;
      count += 1;
    },
    count: () => count,
    sorted: () => times.slice(0, count).sort(),
  };
}

const FIRST_CAPACITY = 65_536;
