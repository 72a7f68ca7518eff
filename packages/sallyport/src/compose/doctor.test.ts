import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { testImage } from '../../../sandbox/src/drivers/microvm/testing/test-image.ts';
import { createDatabaseServer } from '../storage/postgres/embedded/database-server.fixture.ts';
import { run, urlOf } from '../storage/postgres/postgres-databases.fixture.ts';
import { clockAhead } from '../storage/postgres/server/server-facts.ts';
import { doctor } from './doctor.ts';

const image = await testImage();

test.skipIf('missing' in image)('SBX-04 doctor says what a driver that works refuses to every tool', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'doctor-'));
  await mkdir(join(dataFolder, 'microvm'));
  for (const path of 'missing' in image ? [] : [image.kernel, image.initrd]) {
    await copyFile(path, join(dataFolder, 'microvm', basename(path)));
  }
  const findings = await doctor({ dataFolder });
  const told = (driver: string): string =>
    findings
      .filter(({ name }) => name.startsWith(`sandbox: ${driver} `))
      .map(({ message }) => message)
      .join(' ');
  expect(told('qemu')).toMatch(/lets no tool out.*E3104.*shows no folders.*E3105/);
  expect(told('bubblewrap')).not.toMatch(/lets no tool out|shows no folders/);
  await rm(dataFolder, { recursive: true });
});

test('SBX-02.2 SBX-02.8 doctor says what to install where the driver of every tool is missing, and of what other drivers lack', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'doctor-'));
  vi.stubEnv('PATH', dataFolder);
  try {
    const findings = await doctor({ dataFolder });
    const about = (driver: string) => findings.find(({ name }) => name.startsWith(`sandbox: ${driver} `));
    expect(about('bubblewrap')).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('apt-get install bubblewrap'),
      hint: expect.stringContaining('refused'),
    });
    expect(about('gvisor')).toMatchObject({ state: 'absent', message: expect.stringMatching(/runsc.*missing.*https/) });
  } finally {
    vi.unstubAllEnvs();
  }
  await rm(dataFolder, { recursive: true });
});

test('OPS-01 doctor names a variable that sets nothing, with the one that may be meant', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'doctor-'));
  const settings = async () => (await doctor({ dataFolder })).find(({ name }) => name === 'settings');
  expect(await settings()).toEqual({ name: 'settings', state: 'ok', message: 'no faults' });
  vi.stubEnv('SALLYPORT_SERVER_PRT', '1');
  try {
    expect(await settings()).toMatchObject({
      state: 'warning',
      message: 'no faults, but unknown variables: SALLYPORT_SERVER_PRT; did you mean SALLYPORT_SERVER_PORT',
    });
  } finally {
    vi.unstubAllEnvs();
  }
  await rm(dataFolder, { recursive: true });
});

test('PRM-08.7 doctor shows the gate when it is enabled: model, number of policies, fail_open', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'doctor-'));
  const gate = async (variables: Readonly<Record<string, string>>) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(`SALLYPORT_${name}`, value);
    try {
      return (await doctor({ dataFolder })).filter(({ name }) => name === 'gate');
    } finally {
      vi.unstubAllEnvs();
    }
  };
  const model = { MODEL_URL: 'http://127.0.0.1:9', MODEL_NAME: 'm', GATE_POLICIES: 'A.,B.' };
  expect(await gate(model)).toEqual([]);
  const enabled = { ...model, GATE_ENABLED: 'true' };
  const said = '127.0.0.1:9/m judges calls by 2 policies; gate.fail_open is';
  expect(await gate(enabled)).toEqual([{ name: 'gate', state: 'ok', message: `${said} false` }]);
  expect(await gate({ ...enabled, GATE_FAIL_OPEN: 'true' })).toMatchObject([
    { state: 'limit', message: expect.stringContaining(`${said} true`) },
  ]);
  expect(await gate({ GATE_ENABLED: 'true' })).toMatchObject([
    { state: 'failed', message: expect.stringContaining('model.url') },
  ]);
  await rm(dataFolder, { recursive: true });
});

test('EXT-06.2 doctor names a credential that is near its end, ended, or due for rotation', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'doctor-'));
  const about = async (more: string) => {
    const table = `[[credential]]\nname = "petstore_key"\ncredential_type = "api_key"\n${more}\n`;
    await writeFile(join(dataFolder, 'credentials.toml'), table);
    return (await doctor({ dataFolder })).filter(({ name }) => name.startsWith('credential'));
  };
  const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
  const name = 'credential petstore_key of default';
  const message = (words: string) => expect.stringMatching(new RegExp(`^api_key ${words} \\d{4}-`));
  const findings = await doctor({ dataFolder });
  expect(findings.filter(({ name: each }) => each.startsWith('credential'))).toEqual([]);
  expect(findings.slice(0, 6)).toEqual([
    { name: 'Node.js', state: 'ok', message: process.versions.node },
    { name: 'settings', state: 'ok', message: 'no faults' },
    { name: 'PostgreSQL', state: 'ok', message: 'embedded' },
    { name: 'data folder', state: 'ok', message: dataFolder },
    { name: 'policies', state: 'ok', message: 'cedar' },
    { name: 'running layer', state: 'ok', message: 'none on this data folder' },
  ]);
  const sandboxes = findings.slice(6).map(({ name: each }) => each.replace(/ \(.*/, ''));
  const drivers = ['bubblewrap', 'gvisor', 'qemu', 'firecracker', 'wasm'].map((driver) => `sandbox: ${driver}`);
  expect([...new Set(sandboxes)]).toEqual(drivers);
  expect(findings.filter(({ name: each, state }) => each.startsWith('sandbox: wasm') && state === 'ok')).toHaveLength(
    1,
  );
  expect(await about(`expires_at = ${inDays(30)}`)).toMatchObject([{ name: 'credentials', state: 'ok' }]);
  expect(await about(`expires_at = ${inDays(3)}`)).toMatchObject([
    { name, state: 'warning', message: message('ends at') },
  ]);
  expect(await about(`expires_at = ${inDays(-1)}`)).toMatchObject([
    { name, state: 'warning', message: message('ended at') },
  ]);
  expect(await about(`rotation_schedule = "weekly"\nrotated_at = ${inDays(-8)}`)).toMatchObject([
    { name, state: 'warning', message: message('was due for rotation at') },
  ]);
  expect(await about('credential_value = "x"')).toMatchObject([{ name: 'credentials', state: 'failed' }]);
  await rm(dataFolder, { recursive: true });
});

test('OPS-04 a clock differs from the server’s only by more than the question took', () => {
  expect(clockAhead(100, 100, 200)).toBe(0);
  expect(clockAhead(100, 200, 200)).toBe(0);
  expect(clockAhead(100, 99, 200)).toBe(1);
  expect(clockAhead(100, 201, 200)).toBe(-1);
});

test('OPS-03 doctor says where the layer is superuser of the database, where clocks differ, and what does not answer', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'doctor-'));
  const server = await createDatabaseServer(dataFolder);
  await server.start();
  await run(server.connection, 'create role lesser login');
  const told = async (user: string, aheadMs = 0) => {
    vi.stubEnv('SALLYPORT_DATABASE_URL', urlOf({ ...server.connection, user }));
    const found = await doctor({ dataFolder }, () => Date.now() + aheadMs);
    return found.find(({ name }) => name === 'PostgreSQL');
  };
  const clock = (said: string) => ({
    ...{ state: 'warning', hint: expect.stringContaining('NTP') },
    message: expect.stringContaining(`the clock of this machine is ${said} it`),
  });
  try {
    const { user } = server.connection;
    expect(await told(user)).toMatchObject({ state: 'warning', message: expect.stringContaining('superuser') });
    expect(await told('lesser')).toMatchObject({ state: 'ok', message: expect.stringContaining('18.') });
    expect(await told('lesser', 3_600_000)).toMatchObject(clock('3600 s ahead of'));
    expect(await told(user, -3_600_000)).toMatchObject({
      ...clock('3600 s behind'),
      message: expect.stringMatching(/superuser.*3600 s behind it$/s),
    });
    expect(await told('nobody')).toMatchObject({ state: 'failed', hint: 'Correct database.url.' });
  } finally {
    vi.unstubAllEnvs();
    await server.stop();
  }
  await rm(dataFolder, { recursive: true });
});

test('OPS-01.1 OPS-03 doctor says which setting is faulty, where a layer runs, and of a data folder that it cannot be used', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'doctor-'));
  vi.stubEnv('SALLYPORT_CALLS_MAX', 'many');
  const [node, settings, ...others] = await doctor({ dataFolder });
  vi.unstubAllEnvs();
  expect([node?.state, others]).toEqual(['ok', []]);
  expect(settings).toEqual({
    ...{ name: 'settings', state: 'failed', hint: 'See docs/settings.md.' },
    message: expect.stringContaining('calls.max must be a number'),
  });
  const running = { url: 'http://127.0.0.1:1', pid: process.pid, socket: '/s' };
  await writeFile(join(dataFolder, 'running-s.json'), JSON.stringify(running));
  const about = async (folder: string, which: string) =>
    (await doctor({ dataFolder: folder })).find(({ name }) => name === which);
  expect(await about(dataFolder, 'running layer')).toMatchObject({
    message: `${running.url} (process ${process.pid})`,
  });
  const fresh = join(dataFolder, 'new', 'folder');
  expect(await about(fresh, 'data folder')).toMatchObject({
    state: 'ok',
    message: `${fresh}, which the first start makes`,
  });
  const file = join(dataFolder, 'running-s.json', 'folder');
  expect(await about(file, 'data folder')).toMatchObject({
    ...{ state: 'failed', message: expect.stringContaining(`${file} cannot be used: `) },
    hint: 'Choose another with --data-folder.',
  });
  await rm(dataFolder, { recursive: true });
});
