import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxDriver, SandboxSpec, WarmPool } from '@sallyport/sandbox';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readSettings } from '../../read-settings.ts';
import type { Settings } from '../../settings.ts';
import { MACHINE_DRIVERS, openSandboxes } from './open-sandboxes.ts';

const settingsWith = (given: Partial<Settings> = {}): Settings => readSettings({ environment: {}, given });
const faulty = (message: string) =>
  expect.objectContaining({ code: 'E3801', message: expect.stringContaining(message) });
const POOL = { 'sandbox.drivers': ['kubernetes'], 'sandbox.kubernetes_pool': 'pool' };
const JOB: SandboxSpec = {
  ...{ label: 'test', command: ['/bin/true'], environment: {}, mounts: [], network: [] },
  limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 16, diskMb: 8 },
};

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sandboxes-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
function open(given: Partial<Settings>, closed: readonly string[] = []) {
  const opened = new AsyncDisposableStack();
  onTestFinished(() => opened.disposeAsync());
  return { ...openSandboxes(opened, settingsWith(given), closed), close: () => opened.disposeAsync() };
}
const driverOf = (given: Partial<Settings>): SandboxDriver => {
  const [driver] = open(given).drivers;
  if (driver === undefined) throw new Error('no driver was opened');
  return driver;
};

/** Writes a program that stands in for one of a sandbox. @returns its path */
async function program(folder: string, name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

await using trial = new AsyncDisposableStack();
const { works } = await openSandboxes(trial, settingsWith({ 'sandbox.drivers': ['bubblewrap'] }), []).driver.probe();

describe('sandboxes', () => {
  test('SBX-02.1 drivers are opened in the order in which they are named', () => {
    const named = { 'sandbox.drivers': ['firecracker', 'qemu', 'gvisor', 'bubblewrap'] };
    expect(open(named).drivers.map(({ name }) => name)).toEqual(named['sandbox.drivers']);
    expect(open(POOL).drivers.map(({ name, isolation }) => [name, isolation])).toEqual([
      ['kubernetes', settingsWith()['sandbox.kubernetes_isolation']],
    ]);
    expect(MACHINE_DRIVERS).toEqual(['bubblewrap', 'gvisor', 'qemu', 'firecracker']);
  });

  test.each<[Partial<Settings>, string]>([
    [{ 'sandbox.drivers': [] }, 'names no driver'],
    [{ 'sandbox.drivers': ['docker'] }, 'names "docker"; there are bubblewrap, gvisor, qemu, firecracker, kubernetes'],
    [{ 'sandbox.drivers': ['constructor'] }, 'names "constructor"'],
    [{ 'sandbox.require_limits': ['memory', 'luck'] }, 'sandbox.require_limits names "luck"'],
    [{ ...POOL, 'sandbox.kubernetes_pool': '' }, 'needs sandbox.kubernetes_pool'],
  ])('SBX-02.1 %j is refused', (given, message) => {
    expect(() => open(given)).toThrow(faulty(message));
  });

  test('SBX-02.4 a guest has the kernel of the folder that is named, or of the data folder, and the chosen accelerator', async () => {
    const [folder, programs] = [await temporary(), await temporary()];
    for (const name of ['qemu-system-x86_64', 'firecracker']) await program(programs, name, 'echo version 9.8.7');
    vi.stubEnv('PATH', programs);
    onTestFinished(() => void vi.unstubAllEnvs());
    const [inData, named] = [{ data_folder: folder }, { 'sandbox.microvm_folder': folder }];
    for (const name of ['qemu', 'firecracker']) {
      const problem = async (given: Partial<Settings>) =>
        (await driverOf({ 'sandbox.drivers': [name], ...given }).probe()).problem;
      expect(await problem(inData)).toContain(`${join(folder, 'microvm', 'vmlinuz')} `);
      expect(await problem(named)).toContain(`${join(folder, 'vmlinuz')} `);
    }
    await writeFile(join(folder, 'vmlinuz'), '');
    const qemu = { 'sandbox.drivers': ['qemu'], ...named };
    expect((await driverOf(qemu).probe()).problem).toContain(`${join(folder, 'initrd')} `);
    await writeFile(join(folder, 'initrd'), '');
    const emulates = async (accelerator: 'tcg' | 'kvm') => {
      const { weaknesses } = await driverOf({ ...qemu, 'sandbox.qemu_accelerator': accelerator }).probe();
      return weaknesses.some((text) => text.includes('emulated'));
    };
    expect([await emulates('tcg'), await emulates('kvm')]).toEqual([true, false]);
  });

  test('SBX-02.3 gVisor is the program of the settings', async () => {
    const named = await program(await temporary(), 'own-runsc', 'exit 1');
    const { works, problem } = await driverOf({
      ...{ 'sandbox.drivers': ['gvisor'], 'sandbox.gvisor_program': named },
    }).probe();
    expect([works, problem]).toEqual([false, expect.stringContaining(named)]);
  });

  test('SBX-02.5 the cluster is that of the kubeconfig that is named, or of the pod of the layer', async () => {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '');
    onTestFinished(() => void vi.unstubAllEnvs());
    const problem = async (given: Partial<Settings>) => (await driverOf({ ...POOL, ...given }).probe()).problem;
    const absent = join(await temporary(), 'kubeconfig');
    expect(await problem({ 'sandbox.kubernetes_kubeconfig': absent })).toContain(absent);
    expect(await problem({})).toContain('KUBERNETES_SERVICE_HOST');
    const isolated = { ...POOL, 'sandbox.kubernetes_isolation': 'user_kernel' } as const;
    expect(driverOf(isolated).isolation).toBe('user_kernel');
  });

  test('SBX-01 SBX-04.1 no driver that shows folders shows those of the layer, and three have the way out', async () => {
    const own = join(await temporary(), 'own');
    await mkdir(own);
    const names = ['bubblewrap', 'gvisor', 'qemu', 'firecracker'];
    const { drivers } = open({ 'sandbox.drivers': names }, [own]);
    expect(drivers.map(({ supports }) => supports.egress)).toEqual([true, true, false, true]);
    for (const driver of drivers.slice(0, 2))
      await expect(driver.start({ ...JOB, mounts: [{ path: own, mode: 'ro' }] })).rejects.toMatchObject({
        code: 'E3105',
      });
  });
});

describe.skipIf(!works)('sandboxes of bubblewrap', () => {
  const BUBBLEWRAP = { 'sandbox.drivers': ['bubblewrap'] };
  const ran = async (driver: SandboxDriver) => (await (await driver.start(JOB)).exited).code;

  test('SBX-06 calls use those that are kept warm, programs that run for long do not, and none outlives the layer', async () => {
    const { driver, servers, drivers, close } = open({ ...BUBBLEWRAP, 'sandbox.warm_max': 1 });
    const pool = drivers[0] as WarmPool;
    expect(await pool.prepare(JOB)).toBe(true);
    expect(await ran(servers)).toBe(0);
    expect(pool.counts()).toEqual({ standing: 1, warm: 0, cold: 0 });
    expect(await ran(driver)).toBe(0);
    expect(pool.counts().warm).toBe(1);
    expect(await pool.prepare(JOB)).toBe(true);
    await close();
    expect(pool.counts().standing).toBe(0);
    const none = open({ ...BUBBLEWRAP, 'sandbox.warm_max': 0 }).drivers[0] as WarmPool;
    expect(await none.prepare(JOB)).toBe(false);
  });

  test('SBX-02.7 what the settings demand holds for calls and for servers', async () => {
    const { driver, servers } = open({ ...BUBBLEWRAP, 'sandbox.isolation': 'microvm' });
    for (const each of [driver, servers])
      await expect(each.start(JOB)).rejects.toMatchObject({
        code: 'E3101',
        failure: { details: { isolation: 'microvm' } },
      });
    const mounts = [{ path: await temporary(), mode: 'rw' as const }];
    const limited = open({ ...BUBBLEWRAP, 'sandbox.require_limits': ['disk'] });
    for (const each of [limited.driver, limited.servers])
      await expect(each.start({ ...JOB, mounts })).rejects.toMatchObject({
        ...{ code: 'E3101', message: expect.stringContaining('sandbox.require_limits in full here: disk') },
      });
  });
});
