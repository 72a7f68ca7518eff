import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
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
import { ownFolders } from '../../linux/limits/find-control-groups.ts';
import { createGvisorDriver } from './gvisor-driver.ts';

const gvisor = createGvisorDriver();
const probed = await gvisor.probe();

/** Pids of the gVisor kernels that this process started: tools themselves are not processes of the host. */
function kernels(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('runsc-sandbox') && isBelow(pid);
    } catch {
      return false;
    }
  });
}

function isBelow(pid: string): boolean {
  if (pid === String(process.pid)) return true;
  const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return parent !== undefined && parent !== '0' && isBelow(parent);
}

const opened = (driver: OpenedDriver['driver']) => async (): Promise<OpenedDriver> => ({
  driver,
  traces: kernels,
  async close() {},
});

/**
 * Opens a driver with a mount of a folder that only its owner may enter: gVisor then has the layer's rights (rootful
 * under root).
 */
const withPrivateFolder = (driver: OpenedDriver['driver']) => async (): Promise<OpenedDriver> => {
  const folder = mkdtempSync(join(tmpdir(), 'gvisor-private-'));
  const close = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
  return { driver, traces: kernels, mounts: [{ path: folder, mode: 'rw' }], close };
};

describe.skipIf(!probed.works)(`gVisor${probed.works ? '' : `, skipped: ${probed.problem}`}`, () => {
  sandboxDriverConformance(test, 'gVisor', opened(gvisor));
  // Without folders these cases run in test/adversarial/sandboxes/hostile-programs.test.ts.
  sandboxContainmentConformance(test, 'gVisor with a private folder', withPrivateFolder(gvisor));
  sandboxClosedConformance(test, 'gVisor', (closed) => opened(createGvisorDriver({ closed }))());
  sandboxEgressConformance(test, 'gVisor', (gate) => opened(createGvisorDriver({}, gate))());

  const spec = (script: string, more: Partial<SandboxSpec> = {}): SandboxSpec => ({
    label: 'test',
    command: ['/bin/sh', '-c', script],
    environment: {},
    mounts: [],
    network: [],
    limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 16, diskMb: 1 },
    ...more,
  });

  test('SBX-05 no other user of the machine may enter the folder with the environment of a tool', async () => {
    await using running = await gvisor.start(spec('echo ready; sleep 60', { environment: { SECRET: 'x' } }));
    await once(running.stdout, 'data');
    const driverFolder = markedFolders(process.pid)[0] ?? '';
    const bundles = readdirSync(driverFolder).map((name) => statSync(join(driverFolder, name)));
    expect(bundles.length).toBeGreaterThan(0);
    for (const { mode } of bundles) expect(mode & 0o077).toBe(0);
    running.kill();
    await running.exited;
    expect(markedFolders(process.pid)).toEqual([]);
  });

  test('files that a tool makes in a granted folder belong to the layer, and its own uid has no rights of root', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gvisor-owner-'));
    const running = await gvisor.start(
      spec('echo x >"$HOME/x"; id -un; chown 12345 "$OUT" && echo chowned; echo x >"$OUT/file"; exit 0', {
        mounts: [{ path: folder, mode: 'rw' }],
        environment: { OUT: folder },
      }),
    );
    const said = await text(running.stdout);
    await running.exited;
    expect(said).toBe('sandbox\n');
    expect(statSync(join(folder, 'file')).uid).toBe(process.getuid?.());
    rmSync(folder, { recursive: true });
  });

  test('SBX-08 SBX-02.3 a layer that is killed at any moment leaves no process, and the next one removes the rest', async () => {
    for (const delayMs of [0, 20, 60, 120, 200, 400]) await killLayerAfter(delayMs);
    const pids = killed.map(String);
    await until(() => pids.every((pid) => processesOf(pid).length === 0));
    await createGvisorDriver().probe();
    await until(() => killed.every((pid) => markedFolders(pid).length === 0 && groupsOf(pid).length === 0));
    expect(killed.flatMap((pid) => [...markedFolders(pid), ...groupsOf(pid)])).toEqual([]);
  }, 60_000);
});

const killed: number[] = [];

/** A layer that starts a tool on request, with the real driver. */
const LAYER = `
  import { createGvisorDriver } from ${JSON.stringify(join(import.meta.dirname, 'gvisor-driver.ts'))};
  const driver = createGvisorDriver();
  await driver.probe();
  console.log('ready');
  process.stdin.once('data', () => driver.start({
    label: 'tool', command: ['/bin/sleep', '600'], environment: {}, mounts: [], network: [],
    limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 8, diskMb: 1 },
  }));
`;

async function killLayerAfter(delayMs: number): Promise<void> {
  const layer = spawn(process.execPath, ['--input-type=module', '-e', LAYER], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(layer.stdout, 'data');
  layer.stdin.write('go');
  await sleep(delayMs);
  const ended = once(layer, 'exit');
  layer.kill('SIGKILL');
  await ended;
  killed.push(layer.pid ?? 0);
}

/** Folders of the driver of the layer with this pid. */
function markedFolders(pid: number): readonly string[] {
  const name = new RegExp(`^${MARKED_FOLDER}\\d+-${pid}-`);
  return readdirSync(tmpdir())
    .filter((entry) => name.test(entry))
    .map((entry) => join(tmpdir(), entry));
}

function groupsOf(pid: number): readonly string[] {
  const read = (file: string): string => readFileSync(file, 'utf8');
  const folders = ownFolders({ mounts: read('/proc/self/mountinfo'), memberships: read('/proc/self/cgroup') });
  return [...new Set(folders.values())].flatMap((folder) =>
    readdirSync(folder).filter((entry) => new RegExp(`^sallyport-\\d+-${pid}-`).test(entry)),
  );
}

/** Pids of processes that name a layer on their command line, and of their children. */
function processesOf(layerPid: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return new RegExp(`${MARKED_FOLDER}\\d+-${layerPid}-`).test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    } catch {
      return false;
    }
  });
}

async function until(holds: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + 15_000;
  while (!holds() && Date.now() < giveUpAt) await sleep(20);
  expect(holds()).toBe(true);
}
