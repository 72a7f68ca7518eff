import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../processes/temporary-folder.ts';
import { type BenchmarkRun, ROUNDS } from '../report/benchmark.ts';
import type { Figure } from '../report/figure.ts';
import { type CallsMeasured, measureCalls, warmUp } from './measure-calls.ts';
import type { MeasuredLayer } from './measured-layer.ts';
import { memoryLayer } from './memory-layer.ts';
import { pipelineFigures, type Rounds, type StageRound } from './pipeline-figures.ts';
import { postgresLayer } from './postgres-layer.ts';
import { IRREVERSIBLE_TOOL, PURE_TOOL } from './tool.ts';

const MANY = 32;
/** The storage in memory grows; what the collector then does is no part of a call. */
const MEMORY_CALLS_MAX = 20_000;
const PAUSE_MS = 100;
const WARM_UP_MS = 3_000;

/** A native pure tool in process with everything on, and what each stage takes of it. */
export async function runPipeline({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder());
  report('starting the layer');
  const postgres = opened.adopt(await postgresLayer(join(folder.path, 'postgres')), (layer) => layer.close());
  report('warming up');
  await inMemory(join(folder.path, 'memory'), WARM_UP_MS);
  await warmUp(postgres, PURE_TOOL.tool_id, MANY);
  await warmUp(postgres, IRREVERSIBLE_TOOL.tool_id, MANY);
  const rounds: Rounds = { memory: [], pure: [], pureMany: [], irreversible: [], irreversibleMany: [], stages: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    report(`round ${round + 1} of ${ROUNDS}`);
    await oneRound(postgres, join(folder.path, 'memory'), (seconds * 1000) / ROUNDS, rounds);
  }
  return pipelineFigures(rounds);
}

async function oneRound(postgres: MeasuredLayer, memoryFolder: string, ms: number, rounds: Rounds): Promise<void> {
  const pure = PURE_TOOL.tool_id;
  const irreversible = IRREVERSIBLE_TOOL.tool_id;
  rounds.memory.push(await inMemory(memoryFolder, ms));
  rounds.stages.push(await inStages(memoryFolder, ms));
  await sleep(PAUSE_MS);
  rounds.pure.push(await measureCalls(postgres, { toolId: pure, callers: 1, ms }));
  rounds.pureMany.push(await measureCalls(postgres, { toolId: pure, callers: MANY, ms }));
  rounds.irreversible.push(await measureCalls(postgres, { toolId: irreversible, callers: 1, ms }));
  rounds.irreversibleMany.push(await measureCalls(postgres, { toolId: irreversible, callers: MANY, ms }));
  await sleep(PAUSE_MS);
}

/** A round of a fresh layer. Awaited before the end: the layer is closed there. */
async function inMemory(folder: string, ms: number): Promise<CallsMeasured> {
  await using opened = new AsyncDisposableStack();
  const layer = opened.adopt(await memoryLayer(folder), (memory) => memory.close());
  await warmUp(layer, PURE_TOOL.tool_id);
  return await measureCalls(layer, { toolId: PURE_TOOL.tool_id, callers: 1, ms, callsMax: MEMORY_CALLS_MAX });
}

/** A round of its own, for looking at the clock between stages costs time too. */
async function inStages(folder: string, ms: number): Promise<StageRound> {
  await using opened = new AsyncDisposableStack();
  const spent = new Map<string, number>();
  let entered = 0;
  const layer = opened.adopt(
    await memoryLayer(folder, (stage, stageMs) => {
      spent.set(stage, (spent.get(stage) ?? 0) + stageMs);
      entered += stage === 'admit' ? 1 : 0;
    }),
    (memory) => memory.close(),
  );
  await warmUp(layer, PURE_TOOL.tool_id);
  spent.clear();
  entered = 0;
  const { meanMs } = await measureCalls(layer, {
    toolId: PURE_TOOL.tool_id,
    callers: 1,
    ms,
    callsMax: MEMORY_CALLS_MAX,
  });
  return {
    stageUs: new Map([...spent].map(([stage, total]) => [stage, (total / entered) * 1000])),
    callUs: meanMs * 1000,
  };
}
