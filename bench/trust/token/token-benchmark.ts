import type { BenchmarkRun } from '../../report/benchmark.ts';
import type { Figure } from '../../report/figure.ts';
import { measureCost } from './measure-cost.ts';
import { measureVectors } from './measure-vectors.ts';

/** What a token costs, and which forged ones are refused. */
export async function runToken({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  report('JWS vectors');
  const vectors = await measureVectors(report);
  report('verification, minting, revocation');
  return [...vectors, ...(await measureCost(seconds))];
}
