import { expect, test } from 'vitest';
import { chooseDriver } from './choose-driver.ts';
import type { DriverSupport, IsolationLevel, SandboxDriver, SandboxProcess, SandboxSpec } from './driver.port.ts';

const spec: SandboxSpec = {
  label: 'tool',
  command: ['/bin/true'],
  environment: {},
  mounts: [],
  network: [],
  limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 8, diskMb: 1 },
};

/** Drivers that only record which of them was asked to start a sandbox. */
function driversThat(started: string[]) {
  return (
    name: string,
    isolation: IsolationLevel,
    { works = true, ...support }: Partial<DriverSupport> & { works?: boolean } = {},
  ): SandboxDriver => ({
    name,
    isolation,
    supports: { egress: true, mounts: true, programs: 'host', ...support },
    probe: async () => ({ works, weaknesses: [], ...(works ? {} : { problem: `${name} is missing` }) }),
    async start() {
      started.push(name);
      return {} as SandboxProcess;
    },
  });
}

test('SBX-02.1 the first driver that is strong enough runs the tool, and none below what the tool asks for', async () => {
  const started: string[] = [];
  const driver = driversThat(started);
  const chosen = chooseDriver([driver('plain', 'namespaces'), driver('strong', 'microvm')]);
  await chosen.start(spec);
  await chosen.start({ ...spec, isolation: 'namespaces' });
  await chosen.start({ ...spec, isolation: 'user_kernel' });
  await chosen.start({ ...spec, isolation: 'none' });
  expect(started).toEqual(['plain', 'plain', 'strong', 'plain']);
});

test('SBX-02.7 SBX-03.8 where the strong driver does not work the tool does not run, and the message says what is missing', async () => {
  const started: string[] = [];
  const driver = driversThat(started);
  const chosen = chooseDriver([driver('plain', 'namespaces'), driver('strong', 'microvm', { works: false })]);
  await expect(chosen.start({ ...spec, isolation: 'user_kernel' })).rejects.toMatchObject({
    code: 'E3101',
    message: expect.stringMatching(/plain: it gives namespaces only; strong: strong is missing/),
  });
  expect(started).toEqual([]);
});

test('SBX-02 what the operator asks of all tools holds for a tool that asks for less', async () => {
  const started: string[] = [];
  const driver = driversThat(started);
  const chosen = chooseDriver([driver('plain', 'namespaces'), driver('strong', 'user_kernel')], 'user_kernel');
  await chosen.start(spec);
  await chosen.start({ ...spec, isolation: 'interpreter' });
  expect(started).toEqual(['strong', 'strong']);
});

test('a driver without folders or network is passed over by a tool that needs them, never asked', async () => {
  const started: string[] = [];
  const driver = driversThat(started);
  const chosen = chooseDriver([
    driver('bare', 'microvm', { mounts: false, egress: false }),
    driver('script', 'microvm', { programs: 'javascript' }),
    driver('plain', 'namespaces'),
  ]);
  await chosen.start({ ...spec, mounts: [{ path: '/a', mode: 'ro' }] });
  await chosen.start({ ...spec, network: [{ host: 'x.test', port: 443 }] });
  await chosen.start(spec);
  expect(started).toEqual(['plain', 'plain', 'bare']);
  const strict = { ...spec, isolation: 'microvm', network: [{ host: 'x.test', port: 443 }] } as const;
  await expect(chosen.start(strict)).rejects.toMatchObject({ code: 'E3104' });
});

test('SBX-04 a permission that no driver of that strength can give is refused as such, with what to change', async () => {
  const started: string[] = [];
  const driver = driversThat(started);
  const bare = driver('bare', 'microvm', { mounts: false, egress: false });
  const network = [{ host: 'x.test', port: 443 }];
  const mounts = [{ path: '/a', mode: 'ro' as const }];
  const chosen = chooseDriver([driver('plain', 'namespaces'), bare]);
  await expect(chosen.start({ ...spec, isolation: 'microvm', network })).rejects.toMatchObject({
    code: 'E3104',
    message: expect.stringMatching(/bare: it has no way out to the network.*permissions\.network.*sandbox\.drivers/),
  });
  await expect(chosen.start({ ...spec, isolation: 'microvm', mounts })).rejects.toMatchObject({
    code: 'E3105',
    message: expect.stringMatching(/bare: it shows no folders of the host.*permissions\.filesystem/),
  });
  // A driver whose program is missing could run the tool once the program is installed, so the error names that driver.
  const missing = driver('missing', 'microvm', { works: false });
  await expect(chooseDriver([bare, missing]).start({ ...spec, isolation: 'microvm', network })).rejects.toMatchObject({
    code: 'E3101',
    message: expect.stringContaining('missing is missing'),
  });
  expect(started).toEqual([]);
});

test('a driver with an image of its own runs only tools that ask for what it gives, or where there is no other', async () => {
  const started: string[] = [];
  const driver = driversThat(started);
  const image = driver('image', 'microvm', { programs: 'image' });
  const broken = driver('plain', 'namespaces', { works: false });
  await expect(chooseDriver([broken, image]).start(spec)).rejects.toMatchObject({ code: 'E3101' });
  await chooseDriver([broken, image]).start({ ...spec, isolation: 'namespaces' });
  await chooseDriver([image]).start(spec);
  expect(started).toEqual(['image', 'image']);
});

test('SBX-03 a limit that is required and weaker here refuses the sandbox, and the probe says so', async () => {
  const started: string[] = [];
  const plain = driversThat(started)('plain', 'namespaces');
  const weak: SandboxDriver = {
    ...plain,
    probe: async () => ({ works: true, weaknesses: [], weakerLimits: ['memory', 'cpu'] }),
  };
  const chosen = chooseDriver([weak], 'namespaces', { limits: ['memory'] });
  await expect(chosen.start(spec)).rejects.toMatchObject({
    code: 'E3101',
    message: expect.stringContaining('sandbox.require_limits in full here: memory'),
  });
  expect(await chosen.probe()).toMatchObject({ works: false, weakerLimits: ['memory', 'cpu'] });
  await chooseDriver([weak], 'namespaces', { limits: ['processes'] }).start(spec);
  expect(started).toEqual(['plain']);
});

test('SBX-03 a limit that is weaker only with writable folders refuses only tools that have some', async () => {
  const started: string[] = [];
  const plain = driversThat(started)('plain', 'namespaces');
  const driver: SandboxDriver = {
    ...plain,
    probe: async () => ({ works: true, weaknesses: [], weakerWithFolders: ['disk'] }),
  };
  const chosen = chooseDriver([driver], 'namespaces', { limits: ['disk'] });
  await expect(chosen.start({ ...spec, mounts: [{ path: '/a', mode: 'rw' }] })).rejects.toMatchObject({
    code: 'E3101',
    message: expect.stringContaining('sandbox.require_limits in full here: disk'),
  });
  await chosen.start({ ...spec, mounts: [{ path: '/a', mode: 'ro' }] });
  expect((await chosen.probe()).works).toBe(true);
  expect(started).toEqual(['plain']);
});
