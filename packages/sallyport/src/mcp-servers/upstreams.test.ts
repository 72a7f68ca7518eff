import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { Fixture } from './test-servers/upstreams.fixture.ts';
import {
  failureOf,
  fixture,
  odd,
  processesWith,
  REPOSITORY,
  TENANT,
  textOf,
  until,
} from './test-servers/upstreams.fixture.ts';
import type { UpstreamsParts } from './upstreams.ts';

const driver = createBubblewrapDriver();
const folder = mkdtempSync(join(tmpdir(), 'upstreams-'));
const open: Fixture[] = [];
const make = (parts?: Partial<UpstreamsParts>): Fixture => {
  const made = fixture(driver, parts);
  open.push(made);
  return made;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ upstreams }) => upstreams.close()));
  for (const server of ['odd-server.mjs', 'server-everything', 'server-filesystem']) {
    expect(processesWith(server)).toEqual([]);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('EXE-07.1 the real server-everything over stdio is listed and called', async () => {
  const { upstreams, stored } = make();
  const { status, tools, serverVersion, malformed } = await upstreams.add(TENANT, {
    name: 'everything',
    transport: {
      type: 'stdio',
      command: 'node',
      args: ['node_modules/@modelcontextprotocol/server-everything/dist/index.js', 'stdio'],
      cwd: REPOSITORY,
    },
  });
  expect(status).toMatchObject({ name: 'everything', state: 'ready', transport: 'stdio', restart_count: 0 });
  expect(status).toMatchObject({ tool_count: tools.length - 3, protocol_version: '2025-11-25' });
  expect(status.server?.version).toBe(serverVersion);
  expect(malformed).toEqual([]);
  expect(tools.map(({ name }) => name)).toContain('echo');
  expect([...stored.values()].map(({ definition }) => definition.name)).toEqual(['everything']);
  const result = await upstreams.call(TENANT, 'everything', 'echo', { message: 'hello' }, { timeoutMs: 10_000 });
  expect(textOf(result)).toBe('Echo: hello');
  const structured = await upstreams.call(
    TENANT,
    'everything',
    'get-structured-content',
    { location: 'New York' },
    { timeoutMs: 10_000 },
  );
  expect(structured.structuredContent).toMatchObject({ temperature: expect.any(Number) });
});

test('the real server-filesystem by npx sees its folder as its mount says, and nothing beside it', async () => {
  const { upstreams } = make();
  const args = ['-y', '@modelcontextprotocol/server-filesystem', folder];
  const write = { path: join(folder, 'note.txt'), content: 'kept' };
  for (const mode of ['ro', 'rw'] as const) {
    await upstreams.add(TENANT, {
      name: 'files',
      transport: { type: 'stdio', command: 'npx', args, mounts: [{ path: folder, mode }] },
    });
    const written = await upstreams.call(TENANT, 'files', 'write_file', write, { timeoutMs: 10_000 });
    expect(written.isError === true).toBe(mode === 'ro');
  }
  const read = await upstreams.call(TENANT, 'files', 'read_text_file', { path: write.path }, { timeoutMs: 10_000 });
  expect(textOf(read)).toBe('kept');
  const beside = await upstreams.call(
    TENANT,
    'files',
    'read_text_file',
    { path: '/etc/hostname' },
    { timeoutMs: 10_000 },
  );
  expect(beside.isError).toBe(true);
});

test('REG-09.2 what is stored is started in the background, and a call waits until its upstream is up', async () => {
  const { upstreams, stored } = make();
  for (const definition of [odd('good'), odd('exit'), { ...odd('pid'), disabled: true }]) {
    stored.set(definition.name, { tenantId: TENANT, definition });
  }
  const told: string[] = [];
  upstreams.onToolsChanged((tenantId, name, tools, version) =>
    told.push(`${tenantId} ${name} ${tools.length} ${version}`),
  );
  await upstreams.start();
  expect(upstreams.statuses(TENANT).map(({ name, state }) => `${name} ${state}`)).toEqual([
    'exit starting',
    'good starting',
    'pid stopped',
  ]);
  const result = await upstreams.call(TENANT, 'good', 'echo', { message: 'late' }, { timeoutMs: 20_000 });
  expect(textOf(result)).toBe('late');
  expect(told).toEqual(['acme good 1 2.3']);
  await until(() => upstreams.statuses(TENANT)[0]?.state === 'degraded');
  expect(upstreams.statuses(TENANT)[0]?.last_error).toContain('no database configured');
  const refused = await failureOf(upstreams.call(TENANT, 'pid', 'echo', {}, { timeoutMs: 1000 }));
  expect(refused.code).toBe('E3310');
  expect(refused.failure.details).toEqual({ reached: false, disabled: true });
});

test('adding again replaces, and a failure to do so leaves the old one at work', async () => {
  const { upstreams, stored } = make();
  const first = { ...odd('pid'), name: 'same' };
  await upstreams.add(TENANT, first);
  const call = async () => textOf(await upstreams.call(TENANT, 'same', 'pid', {}, { timeoutMs: 10_000 }));
  expect(await call()).toMatch(/^\d+$/);
  expect((await failureOf(upstreams.add(TENANT, { ...odd('exit'), name: 'same' }))).code).toBe('E3108');
  expect(await call()).toMatch(/^\d+$/);
  expect(stored.size).toBe(1);
  await upstreams.add(TENANT, { ...odd('environment', { env: { WHICH: 'second' } }), name: 'same' });
  expect(JSON.parse(await call())).toMatchObject({ WHICH: 'second' });
  expect(processesWith('odd-server.mjs\0pid')).toEqual([]);
});

test('removing ends the server and forgets it, and a tenant never reaches what is another tenant’s', async () => {
  const { upstreams, stored } = make();
  await upstreams.add(TENANT, odd('good'));
  expect(upstreams.statuses('other')).toEqual([]);
  expect(upstreams.current('other', 'good')).toBeUndefined();
  expect((await failureOf(upstreams.call('other', 'good', 'echo', {}, {}))).code).toBe('E3809');
  expect(await upstreams.remove('other', 'good')).toBe(false);
  expect(await upstreams.remove(TENANT, 'good')).toBe(true);
  expect(processesWith('odd-server.mjs')).toEqual([]);
  expect(stored.size).toBe(0);
  expect(await upstreams.remove(TENANT, 'good')).toBe(false);
  expect((await failureOf(upstreams.call(TENANT, 'good', 'echo', {}, {}))).code).toBe('E3809');
});

test('closing ends everything, what is just being added too, and refuses what comes later', async () => {
  const { upstreams, stored } = make();
  await upstreams.add(TENANT, odd('good'));
  const adding = failureOf(upstreams.add(TENANT, odd('silent')));
  await until(() => processesWith('odd-server.mjs\0silent').length > 0);
  await upstreams.close();
  expect((await adding).code).toBe('E3811');
  expect(processesWith('odd-server.mjs')).toEqual([]);
  expect(stored.size).toBe(1);
  expect((await failureOf(upstreams.add(TENANT, odd('good')))).code).toBe('E3811');
});

test('a tenant has at most as many upstreams as it may', async () => {
  const { upstreams } = make({ settings: { perTenantMax: 1 } });
  await upstreams.add(TENANT, { ...odd('good'), disabled: true });
  expect((await failureOf(upstreams.add(TENANT, { ...odd('exit'), disabled: true }))).code).toBe('E3102');
  expect((await upstreams.add(TENANT, { ...odd('good'), disabled: true })).status.state).toBe('stopped');
  expect((await upstreams.add('other', { ...odd('good'), disabled: true })).tools).toEqual([]);
});

test('secrets fill the environment, and what a server says on stderr never shows them', async () => {
  const secrets = { read: async () => new Map([['STORE_KEY', 's3cret-value']]) };
  const { upstreams } = make({ secrets });
  const env = { API_KEY: '{{STORE_KEY}}' };
  await upstreams.add(TENANT, odd('environment', { env }));
  const seen = JSON.parse(textOf(await upstreams.call(TENANT, 'environment', 'x', {}, { timeoutMs: 10_000 })));
  // The server received the secret and returned it; the caller does not see its value.
  expect(seen).toMatchObject({ API_KEY: '[hidden]', HOME: '/tmp', LANG: 'C.UTF-8' });
  expect(Object.keys(seen).filter((key) => !['API_KEY', 'HOME', 'LANG', 'PATH', 'PWD'].includes(key))).toEqual([]);
  const ended = await failureOf(upstreams.add(TENANT, odd('exit', { env })));
  expect(ended.message).toContain('the key is [hidden]');
  expect(JSON.stringify(ended.failure)).not.toContain('s3cret-value');
  const missing = await failureOf(upstreams.add(TENANT, odd('good', { env: { A: '{{NOT_THERE}}' } })));
  expect(missing.code).toBe('E3302');
  expect(missing.message).toContain('NOT_THERE');
});
