import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { KiB } from '@sallyport/std/bytes';
import { afterAll, expect, test } from 'vitest';
import { collectOutput } from '../../../collect-output.ts';
import { sandboxDriverConformance } from '../../../driver.conformance.ts';
import type { SandboxDriver, SandboxSpec } from '../../../driver.port.ts';
import { clearLeftovers } from '../../../linux/crash/clear-leftovers.ts';
import { findControlGroups } from '../../../linux/limits/find-control-groups.ts';
import { createQemuDriver } from '../microvm-driver.ts';
import { busyboxDialect } from '../testing/busybox-dialect.ts';
import { testImage } from '../testing/test-image.ts';

/** Long, because the machine is emulated while other tests use the processor too. */
const TIMEOUT_MS = 240_000;

const image = await testImage();

if ('missing' in image) {
  test.skip(`SBX-02 microVMs of QEMU (${image.missing})`, () => {});
} else {
  realCases(createQemuDriver(image));
  lifeCases(image);
}

function timed(name: string, run: () => Promise<void>): void {
  test(name.startsWith('SBX-') ? name : `SBX-02 ${name}`, run, TIMEOUT_MS);
}

function realCases(driver: SandboxDriver): void {
  const timedTest = Object.assign(timed, {
    skip: (name: string, run: () => Promise<void>): void => test.skip(`SBX-02 ${name}`, run),
  });
  const open = async () => ({ driver, traces: () => machines(), close: async () => {} });
  sandboxDriverConformance(timedTest, 'qemu', open, busyboxDialect);

  afterAll(() => {
    expect(machines()).toEqual([]);
    expect(readdirSync(tmpdir()).filter((name) => name.includes(`-${process.pid}-`))).toEqual([]);
  });

  timed('copies of one machine share neither random numbers nor their clock', async () => {
    const both = await Promise.all([1, 2].map(() => run(driver, sh('head -c 16 /dev/urandom | xxd -p; date +%s'))));
    const [[one, oneSaid], [other, otherSaid]] = both.map((text) => text.stdout.split('\n')) as [string[], string[]];
    expect(one).toMatch(/^[0-9a-f]+$/);
    expect(one).not.toBe(other);
    for (const said of [oneSaid, otherSaid]) expect(Math.abs(Number(said) * 1000 - Date.now())).toBeLessThan(60_000);
  });

  timed('megabytes go in and come out whole', async () => {
    const process = await driver.start(spec(['/bin/cat']));
    const sent = Buffer.alloc(2048 * KiB, 'sallyport ');
    process.stdin.end(sent);
    const { stdout } = await collectOutput(process, { stdoutBytesMax: 4096 * KiB, stderrBytesMax: 0 });
    expect(stdout === sent.toString()).toBe(true);
    expect((await process.exited).code).toBe(0);
  });

  containmentCases(driver);
}

function containmentCases(driver: SandboxDriver): void {
  timed('SBX-04 a machine has no network but its own loopback', async () => {
    const { stdout } = await run(
      driver,
      sh('ls /sys 2>/dev/null; ip link | grep -c "^[0-9]"; ip link | grep -o "lo:"'),
    );
    expect(stdout).toBe('1\nlo:\n');
  });

  timed('SBX-02.4 a tool has no capability, gains none, and reads nothing of the agent', async () => {
    const script =
      'grep -E "^Cap(Inh|Prm|Eff|Amb)" /proc/self/status | grep -vc 0000000000000000; grep NoNewPrivs /proc/self/status; cat /run/start /agent/agent /dev/vport0p1 /dev/mem /groups/tool/memory.max; mount -t tmpfs x /tmp; echo x >/hostile';
    const { stdout } = await run(driver, sh(script));
    expect(stdout).toBe('0\nNoNewPrivs:\t1\n');
  });

  timed('SBX-02 folders of the host are refused', async () => {
    const mounts = [{ path: tmpdir(), mode: 'ro' as const }];
    await expect(driver.start({ ...spec(['/bin/true']), mounts })).rejects.toMatchObject({ code: 'E3105' });
  });
}

function lifeCases(image: { readonly kernel: string; readonly initrd: string }): void {
  timed('a machine without a snapshot boots and runs its job', async () => {
    const cold = createQemuDriver({ ...image, snapshots: false });
    expect((await run(cold, sh('echo booted'))).stdout).toBe('booted\n');
  });

  timed('SBX-08 a layer that is killed leaves no machine, and the next start nothing else', async () => {
    const program = `
      import { createQemuDriver } from ${JSON.stringify(new URL('../microvm-driver.ts', import.meta.url).href)};
      const running = await createQemuDriver(${JSON.stringify(image)}).start(${JSON.stringify(spec(['/bin/sh', '-c', 'echo ready; sleep 600']))});
      running.stdout.pipe(process.stdout);`;
    const layer = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await Promise.race([
      once(layer.stdout, 'data'),
      once(layer, 'exit').then(([code]) => Promise.reject(new Error(`the layer ended with ${code}`))),
    ]);
    const [machine] = machines(layer.pid);
    expect(machine).toBeDefined();
    layer.kill('SIGKILL');
    await once(layer, 'exit');
    await expect.poll(() => machine !== undefined && isRunning(machine), { timeout: 60_000 }).toBe(false);
    // The start of any layer removes the folder and the control groups.
    await clearLeftovers(findControlGroups());
    expect(readdirSync(tmpdir()).filter((name) => name.includes(`-${layer.pid}-`))).toEqual([]);
  });
}

test('SBX-02.7 the probe says what is missing, and what to type', async () => {
  const none = { kernel: '/nowhere/vmlinuz', initrd: '/nowhere/initrd' };
  const noProgram = createQemuDriver({ ...none, program: 'no-such-qemu' });
  expect(await noProgram.probe()).toMatchObject({ works: false, problem: expect.stringContaining('apt-get install') });
  const noImage = createQemuDriver({ ...none, program: process.execPath });
  expect((await noImage.probe()).problem).toContain('scripts/machine/prepare-microvm.ts');
  await expect(noImage.start(spec(['/bin/true']))).rejects.toMatchObject({ code: 'E3101' });
});

const sh = (script: string): SandboxSpec['command'] => ['/bin/sh', '-c', script];

function spec(command: SandboxSpec['command']): SandboxSpec {
  const limits = { cpuMillicores: 2000, memoryMb: 128, processesMax: 32, diskMb: 8 };
  return { label: 'test', command, environment: {}, mounts: [], network: [], limits };
}

async function run(driver: SandboxDriver, command: SandboxSpec['command']) {
  const process = await driver.start(spec(command));
  process.stdin.end();
  return collectOutput(process, { stdoutBytesMax: 64 * KiB, stderrBytesMax: 64 * KiB });
}

/** Pids of the virtual machines that a process started. */
function machines(parent = process.pid): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state !== 'Z' && Number(ppid) === parent && stat.includes('(qemu-system');
    } catch {
      return false;
    }
  });
}

function isRunning(pid: string): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
