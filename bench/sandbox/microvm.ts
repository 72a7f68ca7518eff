import { once } from 'node:events';
import { join } from 'node:path';
import type { SandboxDriver, SandboxProcess, SandboxSpec } from '@sallyport/sandbox';
import { createQemuDriver } from '@sallyport/sandbox/microvm';
import type { BenchmarkRun } from '../report/benchmark.ts';
import { type Figure, figureOf } from '../report/figure.ts';
import { median } from '../report/statistics.ts';

const IMAGE_FOLDER = join('.sallyport', 'microvm');
const LIMITS = { cpuMillicores: 1000, memoryMb: 128, processesMax: 32, diskMb: 8 } as const;
const COLD_SAMPLES = 3;
const SAMPLES_MIN = 5;
const SAMPLES_PER_SECOND = 2;
/** Goal for the emulated machine of the design's measurements. */
const RESTORE_MAX_MS = 400;

const TRUE: SandboxSpec['command'] = ['/bin/true'];
const CAT: SandboxSpec['command'] = ['/bin/cat'];
const SPIN: SandboxSpec['command'] = ['/bin/sh', '-c', 'echo ready; while :; do :; done'];

/** Machines of QEMU, emulated: boot, copy of a snapshot, one exchange with a tool inside, end. The least of all beside the median. */
export async function runMicrovms({ seconds, set, report }: BenchmarkRun): Promise<readonly Figure[]> {
  const folder = set ?? IMAGE_FOLDER;
  const image = { kernel: join(folder, 'vmlinuz'), initrd: join(folder, 'initrd') };
  const booting = createQemuDriver({ ...image, snapshots: false });
  const copying = createQemuDriver(image);
  const { works, problem } = await copying.probe();
  if (!works) throw new Error(`The benchmark needs QEMU and an image. ${problem ?? ''}`);
  const samples = Math.max(SAMPLES_MIN, Math.round(seconds * SAMPLES_PER_SECOND));
  report(`boots ${COLD_SAMPLES} machines`);
  const boots = await repeat(COLD_SAMPLES, () => timeOf(() => runToEnd(booting, TRUE)));
  report('makes a snapshot');
  const first = await timeOf(() => runToEnd(copying, TRUE));
  report(`copies it ${samples} times`);
  const copies = await repeat(samples, () => timeOf(() => runToEnd(copying, TRUE)));
  const exchanges = await measureExchanges(copying, samples);
  const kills = await repeat(SAMPLES_MIN, () => measureKill(copying));
  return [
    ...figuresOf('boot to the end of `true`', boots),
    figureOf('first job: boot, snapshot, copy', 'ms', first),
    ...figuresOf('copy to the end of `true`', copies, RESTORE_MAX_MS),
    ...figuresOf('one line to a tool and back', exchanges),
    ...figuresOf('kill to all dead', kills),
  ];
}

function figuresOf(what: string, values: readonly number[], atMost?: number): Figure[] {
  const bound = atMost === undefined ? undefined : { atMost };
  return [
    figureOf(`${what}, p50`, 'ms', median(values), bound),
    figureOf(`${what}, least`, 'ms', Math.min(...values), bound),
  ];
}

async function measureExchanges(driver: SandboxDriver, samples: number): Promise<readonly number[]> {
  await using running = await driver.start(spec(CAT));
  const exchange = async (): Promise<void> => {
    const answer = once(running.stdout, 'data');
    running.stdin.write('line\n');
    await answer;
  };
  await exchange();
  // Awaited here: the machine ends with this scope.
  return await repeat(samples, () => timeOf(exchange));
}

async function measureKill(driver: SandboxDriver): Promise<number> {
  const running = await driver.start(spec(SPIN));
  await once(running.stdout, 'data');
  return timeOf(() => {
    running.kill();
    return running.exited;
  });
}

async function runToEnd(driver: SandboxDriver, command: SandboxSpec['command']): Promise<void> {
  const running: SandboxProcess = await driver.start(spec(command));
  running.stdin.end();
  running.stdout.resume();
  running.stderr.resume();
  const { code } = await running.exited;
  if (code !== 0) throw new Error(`The job ended with ${String(code)}.`);
}

async function repeat(times: number, measure: () => Promise<number>): Promise<readonly number[]> {
  const values: number[] = [];
  for (let done = 0; done < times; done += 1) values.push(await measure());
  return values;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function spec(command: SandboxSpec['command']): SandboxSpec {
  return { label: 'bench', command, environment: {}, mounts: [], network: [], limits: LIMITS };
}
