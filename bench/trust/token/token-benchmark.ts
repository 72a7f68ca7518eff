import type { BenchmarkRun } from '../../report/benchmark.ts';
import type { Figure } from '../../report/figure.ts';
import { measureCost } from './measure-cost.ts';
import { measureVectors } from './measure-vectors.ts';

/** What a token costs, and which forged ones are refused. */
export async function runToken({ seconds, tell }: BenchmarkRun): Promise<readonly Figure[]> {
  tell('JWS vectors');
  const vectors = await measureVectors(tell);
  tell('verification, minting, revocation');
  return [...vectors, ...(await measureCost(seconds))];
}
