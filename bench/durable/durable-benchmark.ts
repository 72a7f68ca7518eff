import { join } from 'node:path';
import { type CallsMeasured, measureCalls, warmUp } from '../pipeline/measure-calls.ts';
import type { MeasuredLayer } from '../pipeline/measured-layer.ts';
import { memoryLayer } from '../pipeline/memory-layer.ts';
import { postgresLayer } from '../pipeline/postgres-layer.ts';
import { IRREVERSIBLE_TOOL, PURE_TOOL } from '../pipeline/tool.ts';
import { temporaryFolder } from '../processes/temporary-folder.ts';
import { type BenchmarkRun, ROUNDS } from '../report/benchmark.ts';
import { besidePeer, type Figure, figureOf } from '../report/figure.ts';
import { median, percentile, timeSeries } from '../report/statistics.ts';
import { type DbosPeer, dbosPeer } from './dbos-peer.ts';
import { type LaterLayer, laterLayer } from './later-layer.ts';
import { recoveryMs } from './recovery.ts';

const MANY = 32;
const MEMORY_CALLS_MAX = 20_000;
const HELD_CALLS = 100;
const STATUS_CALLS = 2_000;

/** Calls that are committed, that run later, that are looked at and ended, and what is left of them after a crash. */
export async function runDurable({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  await using folder = await temporaryFolder();
  const ms = (seconds * 1000) / ROUNDS;
  await using dbos = await dbosPeer(join(folder.path, 'dbos'), report);
  report('synchronous calls');
  const sync = await synchronous(folder.path, ms, dbos);
  report('asynchronous calls');
  const later = await asynchronous(join(folder.path, 'later'), ms, dbos);
  report('recovery');
  const recovery = await recoveryMs(join(folder.path, 'recovery'));
  const irreversible = figureOf('irreversible call, p50', 'ms', sync.irreversibleP50, { atMost: 1.5 });
  const irreversibleRate = figureOf('irreversible calls, 32 callers', 'calls/s', sync.irreversiblePerSecond, {
    atLeast: 3_000,
  });
  const p50 = figureOf('asynchronous call, accepted to done, p50', 'ms', later.oneP50, { atMost: 8 });
  const rate = figureOf('asynchronous calls, 32 callers', 'calls/s', later.perSecond, { atLeast: 450 });
  return [
    figureOf('pure call, p50 that the commit adds', 'ms', sync.added, { atMost: 0.2 }),
    besidePeer(irreversible, dbos.name, sync.peerP50),
    besidePeer(irreversibleRate, dbos.name, sync.peerPerSecond),
    besidePeer(p50, dbos.name, later.peerP50),
    figureOf('asynchronous irreversible call, accepted to done, p50', 'ms', later.irreversibleP50, { atMost: 8 }),
    besidePeer(rate, dbos.name, later.peerPerSecond),
    figureOf('asynchronous irreversible calls, 32 callers', 'calls/s', later.irreversiblePerSecond, { atLeast: 450 }),
    figureOf('status, p99', 'ms', later.statusP99, { atMost: 2 }),
    figureOf('cancel of a running call, p99', 'ms', later.cancelP99, { atMost: 10 }),
    figureOf('recovery of 10 000 open records', 's', recovery / 1000, { atMost: 5 }),
  ];
}

async function synchronous(folder: string, ms: number, dbos: DbosPeer) {
  await using opened = new AsyncDisposableStack();
  const postgres = opened.adopt(await postgresLayer(join(folder, 'postgres')), (layer) => layer.close());
  for (const tool of [PURE_TOOL, IRREVERSIBLE_TOOL]) await warmUp(postgres, tool.tool_id, MANY);
  const added: number[] = [];
  const one: CallsMeasured[] = [];
  const many: CallsMeasured[] = [];
  const peer = peerRounds(dbos, ms);
  for (let round = 0; round < ROUNDS; round += 1) {
    const memory = await inMemory(join(folder, 'memory'), ms);
    const pure = await measureCalls(postgres, { toolId: PURE_TOOL.tool_id, callers: 1, ms });
    added.push(pure.p50Ms - memory.p50Ms);
    one.push(await measureCalls(postgres, { toolId: IRREVERSIBLE_TOOL.tool_id, callers: 1, ms }));
    many.push(await measureCalls(postgres, { toolId: IRREVERSIBLE_TOOL.tool_id, callers: MANY, ms }));
    await peer.round();
  }
  return {
    ...peer.medians(),
    added: median(added),
    irreversibleP50: median(one.map(({ p50Ms }) => p50Ms)),
    irreversiblePerSecond: median(many.map(({ callsPerSecond }) => callsPerSecond)),
  };
}

async function inMemory(folder: string, ms: number): Promise<CallsMeasured> {
  await using opened = new AsyncDisposableStack();
  const layer = opened.adopt(await memoryLayer(folder), (memory) => memory.close());
  await warmUp(layer, PURE_TOOL.tool_id);
  return await measureCalls(layer, { toolId: PURE_TOOL.tool_id, callers: 1, ms, callsMax: MEMORY_CALLS_MAX });
}

async function asynchronous(folder: string, ms: number, dbos: DbosPeer) {
  await using layer = await laterLayer(folder);
  const later: MeasuredLayer = { call: layer.throughToTheEnd, close: async () => undefined };
  const peer = peerRounds(dbos, ms);
  const measured = async (toolId: string, beside: () => Promise<void>) => {
    await measureCalls(later, { toolId, callers: MANY, ms: 2_000 });
    const one: number[] = [];
    const many: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      one.push((await measureCalls(later, { toolId, callers: 1, ms })).p50Ms);
      many.push((await measureCalls(later, { toolId, callers: MANY, ms })).callsPerSecond);
      await beside();
    }
    return { p50: median(one), perSecond: median(many) };
  };
  const pure = await measured(PURE_TOOL.tool_id, peer.round);
  const irreversible = await measured(IRREVERSIBLE_TOOL.tool_id, async () => undefined);
  return {
    ...peer.medians(),
    oneP50: pure.p50,
    perSecond: pure.perSecond,
    irreversibleP50: irreversible.p50,
    irreversiblePerSecond: irreversible.perSecond,
    statusP99: await p99(STATUS_CALLS, async () => layer.status),
    cancelP99: await p99(HELD_CALLS, () => (layer as LaterLayer).startHeld()),
  };
}

interface PeerRounds {
  round(): Promise<void>;
  medians(): { readonly peerP50?: number | undefined; readonly peerPerSecond?: number | undefined };
}

/** The peer's turns: none when it is not installed. */
function peerRounds({ run }: DbosPeer, ms: number): PeerRounds {
  const one: number[] = [];
  const many: number[] = [];
  if (run === undefined) return { round: async () => undefined, medians: () => ({}) };
  const layer: MeasuredLayer = { call: (_toolId, number) => run(number), close: async () => undefined };
  return {
    async round() {
      one.push((await measureCalls(layer, { toolId: '', callers: 1, ms })).p50Ms);
      many.push((await measureCalls(layer, { toolId: '', callers: MANY, ms })).callsPerSecond);
    },
    medians: () => ({ peerP50: median(one), peerPerSecond: median(many) }),
  };
}

/** Of what each preparation answers with; the preparation is not counted. */
async function p99(count: number, prepare: () => Promise<() => Promise<void>>): Promise<number> {
  const times = timeSeries();
  for (let each = 0; each < count; each += 1) {
    const act = await prepare();
    const begin = performance.now();
    await act();
    times.add(performance.now() - begin);
  }
  return percentile(times.sorted(), 0.99);
}
