import { text } from 'node:stream/consumers';
import { runtimeMounts, type SandboxDriver, type SandboxSpec } from '@sallyport/sandbox';
import { createGvisorDriver } from '@sallyport/sandbox/gvisor';
import { type Figure, figureOf } from '../report/figure.ts';
import { percentile } from '../report/statistics.ts';

const LIMITS = { cpuMillicores: 2000, memoryMb: 256, processesMax: 32, diskMb: 8 } as const;
const SAMPLES_PER_SECOND = 4;
const SAMPLES_MIN = 10;
const TRUE: SandboxSpec['command'] = ['/bin/true'];
const NODE: SandboxSpec['command'] = [process.execPath, '-e', '0'];

/** Starts in gVisor, from the order to the end. Nothing where gVisor does not work. */
export async function measureGvisor(seconds: number, report: (line: string) => void): Promise<readonly Figure[]> {
  const driver = createGvisorDriver();
  const { works, version = '', problem = '' } = await driver.probe();
  if (!works) {
    report(`gVisor does not work here: ${problem}`);
    return [figureOf('gVisor, cold Node (gVisor does not work here)', 'ms', undefined)];
  }
  const samples = Math.max(SAMPLES_MIN, Math.round(seconds * SAMPLES_PER_SECOND));
  return [
    ...(await measureStarts(driver, `gVisor ${version}, cold \`true\``, TRUE, samples)),
    ...(await measureStarts(driver, `gVisor ${version}, cold Node`, NODE, samples, [300, 500])),
  ];
}

async function measureStarts(
  driver: SandboxDriver,
  title: string,
  command: SandboxSpec['command'],
  samples: number,
  bounds?: readonly [p50: number, p99: number],
): Promise<readonly Figure[]> {
  const wall: number[] = [];
  const cpu: number[] = [];
  for (let count = 0; count < samples; count += 1) {
    const began = performance.now();
    cpu.push(await runOnce(driver, command));
    wall.push(performance.now() - began);
  }
  const at = (share: number, values = wall): number => percentile(Float64Array.from(values).sort(), share);
  const bound = (atMost: number | undefined): { atMost: number } | undefined =>
    atMost === undefined ? undefined : { atMost };
  return [
    figureOf(`${title}, p50`, 'ms', at(0.5), bound(bounds?.[0])),
    figureOf(`${title}, p99`, 'ms', at(0.99), bound(bounds?.[1])),
    figureOf(`${title}, least`, 'ms', at(0)),
    figureOf(`${title}, CPU of the sandbox, p50`, 'ms', at(0.5, cpu)),
  ];
}

/** @returns processor time of the sandbox, gVisor included, in ms */
async function runOnce(driver: SandboxDriver, command: SandboxSpec['command']): Promise<number> {
  const running = await driver.start({
    label: 'bench',
    command,
    environment: {},
    mounts: runtimeMounts(command),
    network: [],
    limits: LIMITS,
  });
  running.stdin.end();
  const [exit, , complaint] = await Promise.all([running.exited, text(running.stdout), text(running.stderr)]);
  if (exit.code !== 0) throw new Error(`a sandbox of the benchmark failed: ${complaint}`);
  return exit.cpuMs;
}
