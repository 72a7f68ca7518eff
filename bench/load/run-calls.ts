import { percentile, timeSeries } from '../report/statistics.ts';
import type { Caller } from './callers/caller.ts';
import type { Load, LoadSpan } from './target.ts';

/** A server that refuses so many calls in a round is broken; more would only make the log long. */
const FAILURES_MAX = 100;

let lastNumber = 0;

/** Lets each caller make one call after the other until the span is over. */
export async function runCalls(callers: readonly Pick<Caller, 'call'>[], { ms, calls }: LoadSpan): Promise<Load> {
  const times = timeSeries();
  const failures: string[] = [];
  const begin = performance.now();
  const end = begin + ms;
  let left = calls ?? Number.POSITIVE_INFINITY;
  await Promise.all(
    callers.map(async (caller) => {
      for (let now = performance.now(); now < end && left > 0 && failures.length < FAILURES_MAX; ) {
        left -= 1;
        const failure = await caller.call(nextNumber()).catch(reasonOf);
        const after = performance.now();
        if (failure === undefined) times.add(after - now);
        else failures.push(failure);
        now = after;
      }
    }),
  );
  const seconds = (performance.now() - begin) / 1000;
  const sorted = times.sorted();
  return {
    calls: times.count(),
    failed: failures.length,
    ...(failures[0] === undefined ? {} : { firstFailure: failures[0] }),
    seconds,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  };
}

/** The number of a call, which no other call of this process has. */
export function nextNumber(): number {
  lastNumber += 1;
  return lastNumber;
}

/** What was thrown, in words. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
