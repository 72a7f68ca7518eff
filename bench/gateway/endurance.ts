import { readdirSync } from 'node:fs';
import { type LoadGenerator, startLoadGenerator } from '../load/load-generator.ts';
import type { Target } from '../load/target.ts';
import { type Figure, figureOf } from '../report/figure.ts';
import { type Held, OURS, type OurQuestion } from './our-names.ts';
import type { RunningServer } from './subject.ts';

const CALLS = 24_000;
const STREAMS = 1_000;
const CALLERS = 32;
const MS_MAX = 600_000;
/** One object of 100 bytes that each call left would be as much. */
const HEAP_GROWTH_MB_MAX = 2.4;
const STREAMS_MB_MAX = 100;
/** They take turns, a third of the calls each. */
const CALLED = [OURS.mcpNative, OURS.restNative, OURS.mcpPure];

/** What the server process holds, its garbage collected. */
interface Holding extends Held {
  readonly descriptors: number;
}

interface Endurance {
  readonly growth: Holding;
  readonly streams: Holding;
}

/** What many calls and many idle streams leave in the memory and the descriptors of our server process. */
export async function enduranceFigures(
  ours: RunningServer | undefined,
  report: (line: string) => void,
): Promise<readonly Figure[]> {
  const measured = ours === undefined ? undefined : await measure(ours, report);
  const { growth, streams } = measured ?? {};
  return [
    figureOf(`heap that ${CALLS} calls leave`, 'MB', growth?.heapMb, { atMost: HEAP_GROWTH_MB_MAX }),
    figureOf(`resident memory that ${CALLS} calls leave`, 'MB', growth?.residentMb),
    figureOf(`descriptors that ${CALLS} calls leave`, 'files', growth?.descriptors, { atMost: 0 }),
    figureOf(`heap of ${STREAMS} idle streams`, 'MB', streams?.heapMb, { atMost: STREAMS_MB_MAX }),
    figureOf(`resident memory of ${STREAMS} idle streams`, 'MB', streams?.residentMb, { atMost: STREAMS_MB_MAX }),
  ];
}

async function measure(
  { process: server, targets }: RunningServer,
  report: (line: string) => void,
): Promise<Endurance> {
  using generator = startLoadGenerator();
  const holding = async (): Promise<Holding> => {
    const held = (await server.ask({ asks: 'held' } satisfies OurQuestion)) as Held;
    return { ...held, descriptors: readdirSync(`/proc/${server.pid}/fd`).length };
  };
  const ids: number[] = [];
  for (const name of CALLED) ids.push(await generator.open(targets[name] as Target, CALLERS));
  // Callers are connected before and after, so connections are no growth.
  for (const id of ids) await callAll(generator, id, CALLERS);
  report(`${CALLS} calls`);
  const before = await holding();
  for (const id of ids) await callAll(generator, id, CALLS / ids.length);
  const after = await holding();
  report(`${STREAMS} idle streams`);
  await generator.hold(targets[OURS.mcpNative] as Target, STREAMS);
  return { growth: difference(before, after), streams: difference(after, await holding()) };
}

async function callAll(generator: LoadGenerator, id: number, calls: number): Promise<void> {
  const { failed, firstFailure } = await generator.run(id, CALLERS, { ms: MS_MAX, calls });
  if (failed > 0) throw new Error(`${failed} calls failed: ${firstFailure}`);
}

const difference = (before: Holding, after: Holding): Holding => ({
  heapMb: after.heapMb - before.heapMb,
  residentMb: after.residentMb - before.residentMb,
  descriptors: after.descriptors - before.descriptors,
});
