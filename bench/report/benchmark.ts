import type { Figure } from './figure.ts';

/** How a benchmark is asked to run. */
export interface BenchmarkRun {
  /** Measured time of each subject at each setting, in all rounds together, in seconds. */
  readonly seconds: number;
  /** Folder with a tool set of the caller's, for benchmarks that take one. */
  readonly set?: string;
  /** Tells people what goes on; never part of the report. */
  readonly report: (line: string) => void;
}

/** One benchmark by its name on the command line. */
export interface Benchmark {
  readonly name: string;
  readonly summary: string;
  readonly defaultSeconds: number;
  /** It runs programs in sandboxes of the operating system, and measures nothing without them. */
  readonly sandboxed?: true;
  run(options: BenchmarkRun): Promise<readonly Figure[]>;
}

/** Rounds that ours and the peers' take turns in; figures are medians over them. */
export const ROUNDS = 5;
