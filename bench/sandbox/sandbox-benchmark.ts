import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWarmPool, runtimeMounts, type SandboxDriver, type SandboxSpec, type WarmPool } from '@sallyport/sandbox';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { MiB } from '@sallyport/std/bytes';
import { childrenOf } from '../../packages/sandbox/src/linux/limits/watch-tree.ts';
import { type BenchmarkRun, ROUNDS } from '../report/benchmark.ts';
import { besidePeer, type Figure, figureOf } from '../report/figure.ts';
import { median } from '../report/statistics.ts';
import { measureGrant } from './grant.ts';
import { measureGvisor } from './gvisor.ts';

const LIMITS = { cpuMillicores: 2000, memoryMb: 256, processesMax: 64, diskMb: 8 } as const;
/** Between two measured starts, so that what is made ahead can be made, as between the calls of an agent. */
const PAUSE_MS = 60;
const SAMPLES_PER_SECOND = 15;
const SAMPLES_MIN = 20;
const LANES = 2;
const LAUNCHERS_READY = 2;
const STANDING = 4;
const KIB_PER_MIB = 1024;
const GROWN_MIB = 200;

const TRUE: SandboxSpec['command'] = ['/bin/true'];
const ECHO: SandboxSpec['command'] = ['/bin/echo', 'done'];
const NODE: SandboxSpec['command'] = [process.execPath, join(import.meta.dirname, 'tool.cjs')];
const SPIN: SandboxSpec['command'] = ['/bin/sh', '-c', 'echo ready; while :; do :; done'];

/** Starts, ends and hand-offs of sandboxes beside bare processes, in turns. */
export async function runSandboxes({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  const plain = createBubblewrapDriver();
  const stocked = createBubblewrapDriver({ launchersReady: LAUNCHERS_READY });
  const pool = createWarmPool(createBubblewrapDriver({ launchersReady: LAUNCHERS_READY }), {
    settings: { standingMax: STANDING },
    isBusy: () => false,
  });
  const { works, problem } = await plain.probe();
  if (!works) throw new Error(`The benchmark needs a sandbox. ${problem ?? ''}`);
  await Promise.all([stocked.probe(), pool.probe()]);
  const samples = Math.max(SAMPLES_MIN, Math.round(seconds * SAMPLES_PER_SECOND));
  try {
    return [
      ...(await measureCold('cold `true`', TRUE, { plain, stocked }, samples, [8, 15], report)),
      ...(await measureCold('cold Node, full chain', NODE, { plain, stocked }, samples, [45, 80], report)),
      ...(await measureKill(stocked, samples, report)),
      ...(await measureWarm('warm hand-off to the first output of a program', ECHO, pool, samples, report)),
      ...(await measureWarm('warm hand-off to the first output of a Node script', NODE, pool, samples, report)),
      await measureRate('fresh sandboxes, `true`', TRUE, stocked, seconds, report),
      await measureRate('fresh sandboxes, Node', NODE, pool, seconds, report),
      await measureGrown(stocked, seconds, report),
      ...(await measureIdle(report)),
      ...(await measureGrant(seconds)),
      ...(await measureGvisor(seconds, report)),
    ];
  } finally {
    await Promise.all([plain.close(), stocked.close(), pool.close()]);
  }
}

interface Drivers {
  readonly plain: SandboxDriver;
  readonly stocked: SandboxDriver;
}

async function measureCold(
  title: string,
  command: SandboxSpec['command'],
  { plain, stocked }: Drivers,
  samples: number,
  [p50Max, p99Max]: readonly [number, number],
  report: (line: string) => void,
): Promise<readonly Figure[]> {
  report(`${title}, and a bare spawn in turns`);
  const taken = { bare: [] as number[], plain: [] as number[], stocked: [] as number[] };
  for (let round = 0; round < samples; round += 1) {
    await sleep(PAUSE_MS);
    taken.bare.push(await timed(() => bareSpawn(command)));
    await sleep(PAUSE_MS);
    taken.plain.push(await timed(() => runOnce(plain, command)));
    await sleep(PAUSE_MS);
    taken.stocked.push(await timed(() => runOnce(stocked, command)));
  }
  const beside = (figure: Figure, share: number): Figure =>
    besidePeer(figure, 'bare spawn', quantile(taken.bare, share));
  return [
    beside(figureOf(`${title}, p50`, 'ms', quantile(taken.stocked, 0.5), { atMost: p50Max }), 0.5),
    beside(figureOf(`${title}, p99`, 'ms', quantile(taken.stocked, 0.99), { atMost: p99Max }), 0.99),
    beside(figureOf(`${title}, least`, 'ms', quantile(taken.stocked, 0)), 0),
    beside(figureOf(`${title}, without launchers made ahead, p50`, 'ms', quantile(taken.plain, 0.5)), 0.5),
  ];
}

async function measureKill(
  driver: SandboxDriver,
  samples: number,
  report: (line: string) => void,
): Promise<readonly Figure[]> {
  report('kill of a tool that spins, to the end of all');
  const taken: number[] = [];
  for (let round = 0; round < samples; round += 1) {
    const running = await driver.start(specOf(SPIN));
    running.stderr.resume();
    await once(running.stdout, 'data');
    taken.push(
      await timed(async () => {
        running.kill();
        await running.exited;
      }),
    );
  }
  return [
    figureOf('kill to all dead, p50', 'ms', quantile(taken, 0.5), { atMost: 10 }),
    figureOf('kill to all dead, p99', 'ms', quantile(taken, 0.99), { atMost: 20 }),
  ];
}

async function measureWarm(
  title: string,
  command: SandboxSpec['command'],
  pool: WarmPool,
  samples: number,
  report: (line: string) => void,
): Promise<readonly Figure[]> {
  report(title);
  const spec = specOf(command);
  const taken: number[] = [];
  const toEnd: number[] = [];
  for (let round = 0; round < samples; round += 1) {
    if (!(await pool.prepare(spec))) throw new Error('nothing could be made ahead');
    await sleep(PAUSE_MS);
    const began = performance.now();
    const running = await pool.start(spec);
    running.stderr.resume();
    await once(running.stdout, 'data');
    taken.push(performance.now() - began);
    running.stdout.resume();
    await running.exited;
    toEnd.push(performance.now() - began);
  }
  return [
    figureOf(`${title}, p50`, 'ms', quantile(taken, 0.5), { atMost: 2 }),
    figureOf(`${title}, p99`, 'ms', quantile(taken, 0.99), { atMost: 5 }),
    figureOf(`${title}, least`, 'ms', quantile(taken, 0)),
    figureOf(`${title}: to the end of all, p50`, 'ms', quantile(toEnd, 0.5)),
  ];
}

/** How many a second, and how many bare processes: beyond those there is nothing to reach. */
async function measureRate(
  title: string,
  command: SandboxSpec['command'],
  driver: SandboxDriver,
  seconds: number,
  report: (line: string) => void,
): Promise<Figure> {
  report(title);
  const bare: number[] = [];
  const sandboxed: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await perSecond(seconds / ROUNDS, () => bareSpawn(command)));
    sandboxed.push(await perSecond(seconds / ROUNDS, () => runOnce(driver, command)));
  }
  const figure = figureOf(`${title}, ${LANES} lanes`, '1/s', median(sandboxed), { atLeast: 45 });
  return besidePeer(figure, 'bare spawn', median(bare));
}

/** The same by a process that holds as much as a layer that has served for a while, beside processes that it starts itself. */
async function measureGrown(driver: SandboxDriver, seconds: number, report: (line: string) => void): Promise<Figure> {
  const held = Array.from({ length: GROWN_MIB }, () => Buffer.alloc(MiB, 1));
  const figure = await measureRate(
    `fresh sandboxes, \`true\`, ${held.length} MiB more held`,
    TRUE,
    driver,
    seconds,
    report,
  );
  held.length = 0;
  return figure;
}

async function perSecond(seconds: number, run: () => Promise<void>): Promise<number> {
  const began = performance.now();
  const until = began + seconds * 1000;
  let count = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < until) {
      await run();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return (count * 1000) / (performance.now() - began);
}

/** Memory that no other process shares, and the fair share of what is shared, of all that stands ready. */
async function measureIdle(report: (line: string) => void): Promise<readonly Figure[]> {
  report('memory of what stands ready');
  const figures: Figure[] = [];
  for (const [title, command] of [['any program', ECHO] as const, ['Node', NODE] as const]) {
    const before = new Set(childrenOf(process.pid));
    const pool = createWarmPool(createBubblewrapDriver(), { settings: { standingMax: 1 }, isBusy: () => true });
    await pool.prepare(specOf(command));
    const own = treeBelow(childrenOf(process.pid).filter((pid) => !before.has(pid)));
    figures.push(
      figureOf(
        `memory of one that stands ready for ${title}`,
        'MiB',
        own.reduce((sum, pid) => sum + shareMib(pid), 0),
      ),
    );
    await pool.close();
  }
  return figures;
}

function treeBelow(pids: readonly number[]): readonly number[] {
  return pids.flatMap((pid) => [pid, ...treeBelow(childrenOf(pid))]);
}

function shareMib(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / KIB_PER_MIB;
  } catch {
    return 0;
  }
}

async function bareSpawn([program, ...rest]: SandboxSpec['command']): Promise<void> {
  await once(spawn(program, rest, { env: {}, stdio: 'ignore' }), 'exit');
}

async function runOnce(driver: SandboxDriver, command: SandboxSpec['command']): Promise<void> {
  const running = await driver.start(specOf(command));
  running.stdin.end();
  running.stdout.resume();
  running.stderr.resume();
  const { code } = await running.exited;
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}`);
}

function specOf(command: SandboxSpec['command']): SandboxSpec {
  const mounts: SandboxSpec['mounts'] =
    command[0] === process.execPath ? [...runtimeMounts(command), { path: import.meta.dirname, mode: 'ro' }] : [];
  return { label: 'benchmark', command, environment: {}, mounts, network: [], limits: LIMITS };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
