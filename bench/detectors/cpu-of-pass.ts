import { ROUNDS } from '../report/benchmark.ts';
import { median } from '../report/statistics.ts';

/** CPU time of one pass over all values, in µs for each: median over the rounds, after one that is not counted. */
export function cpuOfEach<T>(values: readonly T[], seconds: number, act: (value: T) => void): number | undefined {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const start = process.cpuUsage();
    const end = performance.now() + (seconds * 1000) / ROUNDS;
    let passes = 0;
    for (; passes === 0 || performance.now() < end; passes += 1) for (const value of values) act(value);
    const { user, system } = process.cpuUsage(start);
    if (round > 0) times.push((user + system) / passes / values.length);
  }
  return median(times);
}
