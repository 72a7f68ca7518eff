import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { SandboxProcess, SandboxSpec } from '@sallyport/sandbox';
import { createWasmDriver, type WasmDriver } from '@sallyport/sandbox/wasm';
import { KiB, MiB } from '@sallyport/std/bytes';
import type { BenchmarkRun } from '../report/benchmark.ts';
import { type Figure, figureOf } from '../report/figure.ts';
import { percentile } from '../report/statistics.ts';

const MEMORY_MB = 32;
const LIMITS = { cpuMillicores: 4000, memoryMb: MEMORY_MB, processesMax: 1, diskMb: 1 } as const;
const SAMPLES_PER_SECOND = 100;
const SAMPLES_MIN = 100;
const COLD_SAMPLES = 20;
const HOST_CALLS = 10_000;
const LANES = 2;
const BOMBS = 10;
const RUNS_IN_A_ROW = 1000;
const MICROSECONDS = 1000;
const PAGE = 4 * KiB;

const NOTHING = 'stdout.write("done")';
const WRITES = `for (let n = 0; n < ${HOST_CALLS}; n++) stdout.write('x')`;
const SPIN = 'stdout.write("ready"); for (;;);';
const BOMB = 'const held = []; for (;;) held.push(new Uint8Array(1e6).fill(1));';

/** Scripts in fresh interpreters: from start to end, host calls, kills, and what the process holds meanwhile. */
export async function runWasm({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  const driver = createWasmDriver();
  const { works, problem } = await driver.probe();
  if (!works) throw new Error(`The benchmark needs the interpreter. ${problem ?? ''}`);
  const samples = Math.max(SAMPLES_MIN, Math.round(seconds * SAMPLES_PER_SECOND));
  try {
    return [
      ...(await measureFresh(driver, samples, report)),
      await measureCold(report),
      await measureHostCalls(driver, report),
      ...(await measureKill(driver, samples / 4, report)),
      await measureRate(driver, seconds, report),
      ...(await measureMemory(driver, report)),
    ];
  } finally {
    await driver[Symbol.asyncDispose]();
  }
}

type ReportProgress = BenchmarkRun['report'];

async function measureFresh(driver: WasmDriver, samples: number, report: ReportProgress): Promise<readonly Figure[]> {
  report('fresh interpreter in a warm thread, start to end');
  const taken: number[] = [];
  const before = process.cpuUsage();
  for (let round = 0; round < samples; round += 1) taken.push(await timed(() => run(driver, NOTHING)));
  const { user, system } = process.cpuUsage(before);
  return [
    figureOf('fresh interpreter, start to end, p50', 'ms', quantile(taken, 0.5), { atMost: 5 }),
    figureOf('fresh interpreter, start to end, p99', 'ms', quantile(taken, 0.99), { atMost: 20 }),
    figureOf('fresh interpreter, start to end, least', 'ms', quantile(taken, 0)),
    figureOf('fresh interpreter, CPU of the whole process', 'ms', (user + system) / MICROSECONDS / samples),
  ];
}

async function measureCold(report: ReportProgress): Promise<Figure> {
  report('the first script of a driver: thread and all');
  const taken: number[] = [];
  for (let round = 0; round < COLD_SAMPLES; round += 1) {
    const driver = createWasmDriver();
    taken.push(await timed(() => run(driver, NOTHING)));
    await driver[Symbol.asyncDispose]();
  }
  return figureOf('first script of a driver, thread and all, p50', 'ms', quantile(taken, 0.5));
}

async function measureHostCalls(driver: WasmDriver, report: ReportProgress): Promise<Figure> {
  report(`${HOST_CALLS} host calls`);
  const taken: number[] = [];
  for (let round = 0; round < COLD_SAMPLES; round += 1) taken.push(await timed(() => run(driver, WRITES)));
  return figureOf(`script with ${HOST_CALLS} host calls, least`, 'ms', quantile(taken, 0));
}

async function measureKill(driver: WasmDriver, samples: number, report: ReportProgress): Promise<readonly Figure[]> {
  report('kill of a script that spins');
  const taken: number[] = [];
  for (let round = 0; round < samples; round += 1) {
    const running = await start(driver, SPIN);
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
    figureOf('kill of a script that spins, p50', 'ms', quantile(taken, 0.5), { atMost: 10 }),
    figureOf('kill of a script that spins, p99', 'ms', quantile(taken, 0.99), { atMost: 20 }),
  ];
}

async function measureRate(driver: WasmDriver, seconds: number, report: ReportProgress): Promise<Figure> {
  report(`scripts in ${LANES} lanes`);
  const began = performance.now();
  let count = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1000) {
      await run(driver, NOTHING);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return figureOf(`fresh interpreters, ${LANES} lanes`, '1/s', (count * 1000) / (performance.now() - began), {
    atLeast: 45,
  });
}

async function measureMemory(driver: WasmDriver, report: ReportProgress): Promise<readonly Figure[]> {
  report(
    `memory of the process: ${BOMBS} bombs of ${MEMORY_MB} MB one after the other, ${RUNS_IN_A_ROW} scripts in a row`,
  );
  const before = residentBytes();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, residentBytes());
  }, 1);
  for (let round = 0; round < BOMBS; round += 1) {
    const { violation } = await run(driver, BOMB, 'memory');
    if (violation !== 'memory') throw new Error('the bomb was not stopped at its memory');
  }
  clearInterval(watch);
  const early = residentBytes();
  for (let round = 0; round < RUNS_IN_A_ROW; round += 1) await run(driver, NOTHING);
  return [
    figureOf(`most memory beyond that before, bombs of ${MEMORY_MB} MB`, 'MiB', (most - before) / MiB),
    figureOf(`memory that ${RUNS_IN_A_ROW} scripts left`, 'MiB', (residentBytes() - early) / MiB),
  ];
}

function start(driver: WasmDriver, source: string): Promise<SandboxProcess> {
  const spec: Omit<SandboxSpec, 'command'> = {
    label: 'benchmark',
    environment: {},
    mounts: [],
    network: [],
    limits: LIMITS,
  };
  return driver.start({ ...spec, command: ['js', source] });
}

async function run(driver: WasmDriver, source: string, violation?: 'memory') {
  const running = await start(driver, source);
  running.stdin.end();
  running.stdout.resume();
  running.stderr.resume();
  const exit = await running.exited;
  if (exit.code !== 0 && violation === undefined) throw new Error(`the script ended with ${JSON.stringify(exit)}`);
  return exit;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const quantile = (values: readonly number[], share: number): number =>
  percentile(Float64Array.from(values).sort(), share);

function residentBytes(): number {
  return Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1]) * PAGE;
}
