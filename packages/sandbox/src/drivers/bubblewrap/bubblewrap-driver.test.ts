import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  type OpenedDriver,
  sandboxClosedConformance,
  sandboxContainmentConformance,
  sandboxDriverConformance,
} from '../../driver.conformance.ts';
import type { SandboxSpec } from '../../driver.port.ts';
import { sandboxEgressConformance } from '../../egress.conformance.ts';
import { MARKED_FOLDER } from '../../linux/crash/clear-leftovers.ts';
import { ownMark } from '../../linux/crash/layer-mark.ts';
import { findControlGroups, ownFolders } from '../../linux/limits/find-control-groups.ts';
import { createBubblewrapDriver } from './bubblewrap-driver.ts';

const withGroups = createBubblewrapDriver();
const withoutGroups = createBubblewrapDriver({ controlGroups: false });
const probed = await withGroups.probe();
const isRoot = process.getuid?.() === 0;

const opened = (driver: OpenedDriver['driver']) => async (): Promise<OpenedDriver> => ({ driver, async close() {} });

/**
 * Opens a driver with a mount of a writable folder that only its owner may enter: a root layer then keeps its own uid.
 */
const withPrivateFolder = (driver: OpenedDriver['driver']) => async (): Promise<OpenedDriver> => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-private-'));
  const close = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
  return { driver, mounts: [{ path: folder, mode: 'rw' }], close };
};

describe.skipIf(!probed.works)(`bubblewrap${probed.works ? '' : `, skipped: ${probed.problem}`}`, () => {
  sandboxDriverConformance(test, 'bubblewrap', opened(withGroups));
  sandboxDriverConformance(test, 'bubblewrap without control groups', opened(withoutGroups));
  sandboxDriverConformance(test, 'bubblewrap with a private folder', withPrivateFolder(withGroups));
  sandboxDriverConformance(test, 'bubblewrap with both', withPrivateFolder(withoutGroups));
  // The limits of a program do not change what contains it, so the driver without control groups is not tested here.
  sandboxContainmentConformance(test, 'bubblewrap', opened(withGroups));
  sandboxContainmentConformance(test, 'bubblewrap with a private folder', withPrivateFolder(withGroups));
  sandboxClosedConformance(test, 'bubblewrap', (closed) => opened(createBubblewrapDriver({ closed }))());
  sandboxEgressConformance(test, 'bubblewrap', (gate) => opened(createBubblewrapDriver({}, gate))());
  sandboxEgressConformance(test, 'bubblewrap with a private folder', (gate) =>
    withPrivateFolder(createBubblewrapDriver({ controlGroups: false }, gate))(),
  );

  const spec = (script: string, more: Partial<SandboxSpec> = {}): SandboxSpec => ({
    label: 'test',
    command: ['/bin/sh', '-c', script],
    environment: {},
    mounts: [],
    network: [],
    limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 16, diskMb: 1 },
    ...more,
  });
  const output = async (script: string, more?: Partial<SandboxSpec>): Promise<string> => {
    await using running = await withGroups.start(spec(script, more));
    return (await text(running.stdout)).trim();
  };

  test.runIf(isRoot)('a layer that is root runs each sandbox under a uid of its own outside', async () => {
    await using first = await withGroups.start(spec('echo ready; read forever # first-of-two'));
    await using second = await withGroups.start(spec('echo ready; read forever # second-of-two'));
    await Promise.all([once(first.stdout, 'data'), once(second.stdout, 'data')]);
    const [ofFirst, ofSecond] = [new Set(uidsOf('first-of-two')), new Set(uidsOf('second-of-two'))];
    expect([ofFirst.size, ofSecond.size]).toEqual([1, 1]);
    expect(ofFirst.isDisjointFrom(ofSecond) && ofFirst.isDisjointFrom(new Set([0]))).toBe(true);
  });

  test.runIf(isRoot)('files that only root may read stay unread in a folder that everyone may enter', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-open-'));
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'private'), 'private', { mode: 0o600 });
    writeFileSync(join(folder, 'open'), 'open');
    expect(await output(`cat ${folder}/*`, { mounts: [{ path: folder, mode: 'ro' }] })).toBe('open');
    rmSync(folder, { recursive: true });
  });

  test('a descriptor that the layer was given does not reach the tool', async () => {
    const secret = join(mkdtempSync(join(tmpdir(), 'sandbox-fd-')), 'secret');
    writeFileSync(secret, 'secret');
    const script =
      'for n in 3 4 5 6 7 8 9 10 11 12 20 99; do test -e /proc/self/fd/$n && readlink /proc/self/fd/$n; done; cat /proc/self/fd/20';
    const child = runLayer(
      `${START}
      const running = await driver.start({ ...spec, command: ['/bin/sh', '-c', ${JSON.stringify(script)}] });
      running.stdout.pipe(process.stdout);
      await running.exited;`,
      { inherited: [20, openSync(secret, 'r')] },
    );
    const said = await outputOf(child);
    expect(said).not.toContain('secret');
    expect(said.replaceAll('/dev/null\n', '')).toBe('');
    rmSync(join(secret, '..'), { recursive: true });
  });

  test('a layer that is killed leaves no process, and the next one removes its control groups', async () => {
    const mark = `crash-${process.pid}`;
    const child = runLayer(`${START}
      const running = await driver.start({ ...spec, command: ['/bin/sh', '-c', 'echo ready; while :; do sleep 1; done', ${JSON.stringify(mark)}] });
      running.stdout.pipe(process.stdout);`);
    await once(child.stdout ?? child, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await until(() => !readdirSync('/proc').some((pid) => commandOf(pid).includes(`${mark}\0`)));
    // A new driver, because a driver removes leftovers only at its first probe.
    await createBubblewrapDriver().probe();
    await until(() => groupsOf(child.pid).length === 0);
  });

  test('SBX-08 a layer that is killed while its fork server stands still leaves no process', async () => {
    const mark = `stopped-${process.pid}`;
    const child = runLayer(`${onServer(mark)}
      console.log(server);`);
    const [said] = await once(child.stdout ?? child, 'data');
    process.kill(Number(said), 'SIGSTOP');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await until(() => !readdirSync('/proc').some((pid) => commandOf(pid).includes(`${mark}\0`)));
    process.kill(Number(said), 'SIGKILL');
  });

  test('a tool whose fork server was killed has ended too, as lost, and the next one runs', async () => {
    const child = runLayer(`${onServer('lost')}
      process.kill(server, 'SIGKILL');
      const { lost, violation } = await running.exited;
      const next = await driver.start({ ...spec, command: ['/bin/sh', '-c', 'exit 7'] });
      console.log(lost, violation, (await next.exited).code);`);
    expect(await outputOf(child)).toBe('true undefined 7\n');
  });

  test.runIf(isRoot)('an ordinary user needs no privilege', async () => {
    const child = runLayer(
      `${START}
      const probe = await driver.probe();
      const running = await driver.start({ ...spec, command: ['/bin/sh', '-c', 'id -u; grep CapEff /proc/self/status'] });
      running.stdout.pipe(process.stdout);
      console.log(probe.works, probe.weaknesses.length > 0, (await running.exited).code);`,
      { uid: 65_534 },
    );
    expect((await outputOf(child)).split('\n').sort().join(' ')).toBe(' 1000 CapEff:\t0000000000000000 true true 0');
  });

  test.runIf(isRoot)('SBX-01 a layer that is an ordinary user shows no more than was granted either', async () => {
    const child = runLayer(
      `${START}
      const [{ checkWith }, { exchangeCases }, { filesCases }, { hostDialect }] = await Promise.all(
        ['suite', 'exchange-cases', 'files-cases', 'host-dialect'].map((name) =>
          import(${JSON.stringify(join(import.meta.dirname, '../../conformance'))} + '/' + name + '.ts')));
      const cases = [];
      const check = checkWith((name, run) => cases.push({ name, run }), 'a', async () => ({ driver, async close() {} }));
      exchangeCases(check, hostDialect);
      filesCases(check, hostDialect);
      const failed = [];
      for (const { name, run } of cases) await run().catch((error) => failed.push(name + error));
      console.log(cases.length > 8, failed.join());`,
      { uid: 65_534 },
    );
    expect(await outputOf(child)).toBe('true \n');
  });

  test.runIf(isRoot)('SBX-04 an ordinary user needs no privilege for a way out, not even at low ports', async () => {
    const client =
      'use IO::Socket; my $s = IO::Socket::INET->new("granted.test:80") or die; print defined($s->getline) ? "?" : "there"';
    const child = runLayer(
      `${START}
      const { createEgressGate } = await import(${JSON.stringify(join(import.meta.dirname, '../../egress-gate.ts'))});
      const gate = createEgressGate({ policy: { allowPrivate: true }, resolver: async () => ['127.9.9.9'] });
      const running = await createBubblewrapDriver({}, gate).start({ ...spec, command: ['perl', '-e', ${JSON.stringify(client)}],
        network: [{ host: 'granted.test', port: 80 }] });
      running.stdout.pipe(process.stdout);
      running.stderr.pipe(process.stderr);
      console.log((await running.exited).network.refusals[0].why);`,
      { uid: 65_534 },
    );
    const said = await outputOf(child);
    expect(said).toContain('granted.test:80 could not be reached (ECONNREFUSED)');
    expect(said).toContain('there');
  });

  test('nothing of a sandbox stays in the control groups or the temporary folder', async () => {
    await Promise.all([1, 2, 3, 4].map(() => output('echo x')));
    await until(() => groupsOf(process.pid).length === 0);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`${MARKED_FOLDER}${ownMark()}-`))).toEqual([]);
  });

  test.skipIf(findControlGroups() === undefined)('SBX-03.1 a processor share is enforced', async () => {
    const spin = 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; cat /proc/uptime';
    const limits = { cpuMillicores: 100, memoryMb: 64, processesMax: 16, diskMb: 1 };
    await using running = await withGroups.start(spec(spin, { limits }));
    const began = performance.now();
    const { cpuMs } = await running.exited;
    // With a tenth of a core the elapsed time is far above the CPU time.
    expect(performance.now() - began).toBeGreaterThan(2 * cpuMs);
  });
});

test('SBX-02.7 a machine without bubblewrap is told what to type', async () => {
  const driver = createBubblewrapDriver({ program: 'no-such-bubblewrap' });
  expect(await driver.probe()).toEqual({
    works: false,
    problem: 'The program no-such-bubblewrap is missing. Type: apt-get install bubblewrap',
    weaknesses: [],
  });
  const start = driver.start({
    label: 'test',
    command: ['true'],
    environment: {},
    mounts: [],
    network: [],
    limits: { cpuMillicores: 1, memoryMb: 1, processesMax: 1, diskMb: 1 },
  });
  await expect(start).rejects.toMatchObject({ code: 'E3101', message: expect.stringContaining('apt-get install') });
});

test('a bubblewrap that cannot work is a problem, not an exception', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-fake-'));
  chmodSync(folder, 0o755);
  const fakes: readonly [string, RegExp][] = [
    ['echo "bwrap: Creating new namespace failed: Operation not permitted" >&2; exit 1', /user namespaces/],
    ['echo "bwrap: Unknown option --disable-userns" >&2; exit 1', /0\.8\.0/],
    ['exit 0', /without a word/],
  ];
  for (const [index, [script, problem]] of fakes.entries()) {
    const program = join(folder, `bwrap-${index}`);
    writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const probe = await createBubblewrapDriver({ program }).probe();
    expect(probe.works).toBe(false);
    expect(probe.problem).toMatch(problem);
  }
  rmSync(folder, { recursive: true });
});

const START = `
  const { createBubblewrapDriver } = await import(${JSON.stringify(join(import.meta.dirname, 'bubblewrap-driver.ts'))});
  const driver = createBubblewrapDriver();
  const spec = { label: 'test', environment: {}, mounts: [], network: [],
    limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 16, diskMb: 1 } };`;

/** Starts a tool that runs until it is killed, as a child of the fork server, which does not keep the layer alive. */
const onServer = (mark: string): string => `${START}
  import { readFileSync } from 'node:fs';
  const { childrenOf } = await import(${JSON.stringify(join(import.meta.dirname, '../../linux/limits/watch-tree.ts'))});
  const isServer = (pid) => readFileSync('/proc/' + pid + '/cmdline', 'utf8').startsWith('/usr/bin/perl');
  let running, server;
  do {
    running?.kill();
    await running?.exited;
    running = await driver.start({ ...spec, command: ['/bin/sh', '-c', 'while :; do sleep 1; done', ${JSON.stringify(mark)}] });
    server = childrenOf(process.pid).find(isServer);
  } while (server === undefined || childrenOf(server).length === 0);`;

interface LayerOptions {
  readonly uid?: number;
  /** Number of a file descriptor in the layer, and the descriptor of this process that it is made from. */
  readonly inherited?: readonly [number, number];
}

/** Runs a script as the layer, in another process. */
function runLayer(script: string, { uid, inherited }: LayerOptions = {}): ChildProcess {
  const stdio: ('ignore' | 'pipe' | 'inherit' | number)[] = ['ignore', 'pipe', 'inherit'];
  if (inherited !== undefined) {
    while (stdio.length < inherited[0]) stdio.push('ignore');
    stdio.push(inherited[1]);
  }
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: '/',
    stdio,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
}

async function outputOf({ stdout }: ChildProcess): Promise<string> {
  return stdout === null ? '' : text(stdout);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

function commandOf(pid: string): string {
  try {
    return /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
  } catch {
    return '';
  }
}

/** Uids on the host of the processes whose command line contains a text. */
function uidsOf(text: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => commandOf(pid).includes(text))
    .map((pid) => Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]));
}

/** Control groups of a layer that still exist. */
function groupsOf(pid: number | undefined): string[] {
  const places = {
    mounts: readFileSync('/proc/self/mountinfo', 'utf8'),
    memberships: readFileSync('/proc/self/cgroup', 'utf8'),
  };
  return [...new Set(ownFolders(places).values())]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).filter((name) => name.split('-')[2] === String(pid)));
}
