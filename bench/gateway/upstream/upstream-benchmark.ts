import { setTimeout as sleep } from 'node:timers/promises';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { fixture } from '../../../packages/sallyport/src/mcp-servers/test-servers/upstreams.fixture.ts';
import type { Upstreams } from '../../../packages/sallyport/src/mcp-servers/upstreams.ts';
import { memoryOf } from '../../processes/process-tree.ts';
import { type BenchmarkRun, ROUNDS } from '../../report/benchmark.ts';
import { type Figure, figureOf } from '../../report/figure.ts';
import { median } from '../../report/statistics.ts';
import { type CallRound, callFor, definitionOf, killServers, TENANT } from './echo-calls.ts';

const CALLERS = [1, 32] as const;
const IDLE_UPSTREAMS = 20;
const IDLE_SETTLE_MS = 1_000;
const WARM_UP_MS = 300;

/** What one stdio upstream in its sandbox costs: calls, start, recovery after its death, and memory of many that idle. */
export async function runUpstream({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  const driver = createBubblewrapDriver();
  const { works, problem } = await driver.probe();
  if (!works) throw new Error(`The benchmark needs a sandbox. ${problem ?? ''}`);
  const open = (): Upstreams => fixture(driver).upstreams;
  return [
    ...(await measured(open, (upstreams) => measureCalls(upstreams, seconds, report))),
    ...(await measured(open, (upstreams) => measureStarts(upstreams, report))),
    ...(await measured(open, (upstreams) => measureRecovery(upstreams, report))),
    ...(await measured(open, (upstreams) => measureIdle(upstreams, report))),
  ];
}

async function measured(
  open: () => Upstreams,
  measure: (upstreams: Upstreams) => Promise<readonly Figure[]>,
): Promise<readonly Figure[]> {
  const upstreams = open();
  try {
    return await measure(upstreams);
  } finally {
    await upstreams.close();
  }
}

async function measureCalls(
  upstreams: Upstreams,
  seconds: number,
  report: (line: string) => void,
): Promise<readonly Figure[]> {
  await upstreams.add(TENANT, definitionOf('echo'));
  await callFor(upstreams, 1, WARM_UP_MS);
  const figures: Figure[] = [];
  for (const callers of CALLERS) {
    report(`calls of ${callers} at once`);
    const rounds: CallRound[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.push(await callFor(upstreams, callers, (seconds * 1000) / ROUNDS));
    }
    const of = (take: (round: CallRound) => number): number | undefined => median(rounds.map(take));
    const p50 = `call through a stdio upstream, ${callers} at once, p50`;
    figures.push(
      figureOf(
        p50,
        'ms',
        of(({ p50Ms }) => p50Ms),
        callers === 1 ? { atMost: 1 } : undefined,
      ),
      figureOf(
        p50.replace('p50', 'p99'),
        'ms',
        of(({ p99Ms }) => p99Ms),
      ),
      figureOf(
        `calls through a stdio upstream, ${callers} at once`,
        'calls/s',
        of(({ perSecond }) => perSecond),
        callers === 1 ? undefined : { atLeast: 4_000 },
      ),
      figureOf(
        `CPU of the layer for such a call, ${callers} at once`,
        'µs',
        of(({ cpuUs }) => cpuUs),
      ),
    );
  }
  return figures;
}

async function measureStarts(upstreams: Upstreams, report: (line: string) => void): Promise<readonly Figure[]> {
  report('start to the first answer');
  const taken: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    await upstreams.add(TENANT, definitionOf('echo'));
    await callFor(upstreams, 1, 0);
    taken.push(performance.now() - began);
    await upstreams.remove(TENANT, 'echo');
  }
  return [
    figureOf('start of a stdio upstream to its first answer, p50', 'ms', median(taken)),
    figureOf('start of a stdio upstream to its first answer, least', 'ms', Math.min(...taken)),
  ];
}

/** From the death of the server to the next answer, the pause before the new start included. */
async function measureRecovery(upstreams: Upstreams, report: (line: string) => void): Promise<readonly Figure[]> {
  report('recovery after the death of the server');
  const taken: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await upstreams.add(TENANT, definitionOf('echo'));
    await callFor(upstreams, 1, 0);
    const began = performance.now();
    killServers();
    while (upstreams.statuses(TENANT)[0]?.state === 'ready') await sleep(1);
    await callFor(upstreams, 1, 0);
    taken.push(performance.now() - began);
    await upstreams.remove(TENANT, 'echo');
  }
  return [figureOf('death of a stdio upstream to the next answer, first pause included, p50', 'ms', median(taken))];
}

async function measureIdle(upstreams: Upstreams, report: (line: string) => void): Promise<readonly Figure[]> {
  report(`${IDLE_UPSTREAMS} idle upstreams`);
  const ours = (): number => process.memoryUsage().rss / BYTES_PER_MEGABYTE;
  const before = { tree: memoryOf(process.pid), ours: ours() };
  for (let at = 0; at < IDLE_UPSTREAMS; at += 1) await upstreams.add(TENANT, definitionOf(`idle-${at}`));
  await sleep(IDLE_SETTLE_MS);
  const after = { tree: memoryOf(process.pid), ours: ours() };
  const { pss } = after.tree;
  const all = pss === undefined || before.tree.pss === undefined ? undefined : pss - before.tree.pss;
  return [
    figureOf(`memory of ${IDLE_UPSTREAMS} idle upstreams, their processes included (PSS)`, 'MB', all),
    figureOf(
      `memory that ${IDLE_UPSTREAMS} idle upstreams add to the layer itself (RSS)`,
      'MB',
      after.ours - before.ours,
    ),
  ];
}

const BYTES_PER_MEGABYTE = 1e6;
