import { percentile, timeSeries } from '../report/statistics.ts';
import type { MeasuredLayer } from './measured-layer.ts';

/** Calls of one round, all in this process. */
export interface CallsMeasured {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly meanMs: number;
  readonly callsPerSecond: number;
  /** CPU of this process per call, in µs: compiler and garbage collector included. */
  readonly cpuUs: number;
}

/** How long a round is, and how many make calls at once. */
export interface CallsRound {
  readonly toolId: string;
  readonly callers: number;
  readonly ms: number;
  /** The round ends earlier after so many calls. */
  readonly callsMax?: number;
}

let number = 0;

/** Lets callers call for a while, each waiting for its answer before the next call. */
export async function measureCalls(
  layer: MeasuredLayer,
  { toolId, callers, ms, callsMax = Number.POSITIVE_INFINITY }: CallsRound,
): Promise<CallsMeasured> {
  const times = timeSeries();
  const cpu = process.cpuUsage();
  const begin = performance.now();
  const end = begin + ms;
  const caller = async () => {
    for (let now = performance.now(); now < end && times.count() < callsMax; ) {
      number += 1;
      await layer.call(toolId, number);
      const after = performance.now();
      times.add(after - now);
      now = after;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const elapsedMs = performance.now() - begin;
  const { user, system } = process.cpuUsage(cpu);
  const calls = times.count();
  const sorted = times.sorted();
  return {
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    meanMs: sorted.reduce((sum, time) => sum + time, 0) / calls,
    callsPerSecond: (calls / elapsedMs) * 1000,
    cpuUs: (user + system) / calls,
  };
}

/** Makes as many calls as it takes until the code is compiled. */
export async function warmUp(layer: MeasuredLayer, toolId: string, callers = 1): Promise<void> {
  await measureCalls(layer, { toolId, callers, ms: WARM_UP_MS_MAX, callsMax: WARM_UP_CALLS });
}

const WARM_UP_CALLS = 3_000;
const WARM_UP_MS_MAX = 5_000;
