import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToolLayer, LOCAL_CALLER, silentLog } from '../../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { type OpenLayer, openLayer, post } from '../layer.fixture.ts';
import { cli } from './cli.fixture.ts';
import { LONE_SERVER, type NpmRegistry, openNpmRegistry, publishServer } from './npm-registry.fixture.ts';

const TOKEN_VALUE = 'sk-lonely-0123456789abcdef';
let place: string;
let script: string;
let open: OpenLayer;
let registry: NpmRegistry;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'desktop-import-'));
  script = join(place, 'server.mjs');
  await writeFile(script, LONE_SERVER);
  registry = await openNpmRegistry();
  publishServer(registry, 'packed', '1.0.0');
  const environment = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', npm_config_registry: registry.url };
  open = await openLayer({}, environment);
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await registry[Symbol.asyncDispose]();
  await rm(place, { recursive: true, force: true });
});

async function configuration(mcpServers: Record<string, unknown>): Promise<string> {
  const file = join(place, 'claude_desktop_config.json');
  await writeFile(file, JSON.stringify({ mcpServers }));
  return file;
}
const stateOf = async (name: string) => {
  const { upstreams } = await open.layer.ask('upstreams.list', {}, LOCAL_CALLER);
  return upstreams.find((upstream) => upstream.name === name)?.state;
};
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}
const invoke = (tool_id: string) => open.layer.invoke({ tool_id, parameters: {}, capability_token: open.token });

test('REG-14.2 a desktop file is classified without a change, then moves in server by server, and what is down is kept', async () => {
  const file = await configuration({
    local: { command: 'node', args: [script] },
    packed: { command: 'npx', args: ['-y', 'packed'] },
    boxed: { command: 'docker', args: ['run', '-i', '--rm', 'image'] },
    down: { type: 'http', url: 'http://127.0.0.1:1/mcp' },
  });
  const dry = await cli(open, ['upstreams', 'import', file, '--dry-run']);
  expect(dry.code).toBe(1);
  expect(dry.out).toMatch(/^local +ready to start *$/m);
  expect(dry.out).toMatch(/^packed +needs an install +packed$/m);
  expect(dry.out).toMatch(/^boxed +needs a container +.*docker/m);
  expect(dry.out).toMatch(/^down +streamable HTTP *$/m);
  expect([registry.asked, await open.layer.ask('upstreams.list', {}, LOCAL_CALLER)]).toEqual([[], { upstreams: [] }]);

  const without = await cli(open, ['upstreams', 'import', file]);
  expect(without).toMatchObject({ code: 1, out: expect.stringContaining('--yes') });
  expect(registry.asked).toEqual([]);
  const refused = await cli(open, ['upstreams', 'import', file], { typed: 'n\n' });
  expect([refused.code, registry.asked]).toEqual([1, []]);

  const lines: string[] = [];
  const done = await cli(open, ['upstreams', 'import', file], { typed: 'y\n', onOut: (text) => lines.push(text) });
  expect(done.err).toContain('Install these packages into the data folder? packed [y/N]');
  expect(lines.filter((line) => /^(?:local|packed): ready, 1 tools/.test(line))).toHaveLength(2);
  expect(done.out).toContain('boxed: left out: ');
  expect(done.out).toContain('2 in, 0 kept and tried again, 2 left out');
  expect(JSON.stringify(await invoke('packed__say'))).toContain('part 2.0.0');
  expect(await stateOf('down')).toBe('degraded');
});

test('REG-14 an upstream that was down at the import registers its tools when it is up', async () => {
  const late = join(place, 'late.mjs');
  await writeFile(late, 'process.exit(3);');
  const file = await configuration({ late: { command: 'node', args: [late] } });
  const run = await cli(open, ['upstreams', 'import', file]);
  expect(run).toMatchObject({ code: 1, out: expect.stringContaining('late: kept and tried again') });
  await writeFile(late, LONE_SERVER);
  await cli(open, ['upstreams', 'restart', 'late']);
  await until(async () => (await invoke('late__say')).status === 'success');
});

test('REG-14 folders and addresses are given for each server, and the dry run says the line to type', async () => {
  const data = join(place, "the user's notes");
  await mkdir(data, { recursive: true });
  const writing = join(place, 'writing.mjs');
  const seen = JSON.stringify(join(data, 'seen'));
  const atStart = `import { writeFileSync as put } from 'node:fs'; put(${seen}, ''); const text`;
  await writeFile(writing, LONE_SERVER.replace('const text', atStart));
  const file = await configuration({
    writer: { command: 'node', args: [writing, data] },
    down: { url: 'http://127.0.0.1:1/mcp' },
  });
  const dry = await cli(open, ['upstreams', 'import', file, '--dry-run', '--network', 'writer=127.0.0.1:9']);
  // The folder of the script is mounted without an option; the only mount to be named is the data folder.
  const quoted = `'writer=${data.replace("'", "'\\''")}'`;
  expect(dry.err).toContain(`sallyport upstreams import ${file} --mount ${quoted} --network writer=127.0.0.1:9\n`);
  for (const [option, given] of [
    ['--mount', data],
    ['--mount', `nobody=${data}`],
    ['--mount', `down=${data}`],
    ['--network', 'writer=nowhere'],
  ] as const) {
    const refused = await cli(open, ['upstreams', 'import', file, option, given]);
    expect(refused.code, given).not.toBe(0);
    expect(refused.err).toMatch(/NAME=|does not start|HOST:PORT/);
  }
  const readOnly = await cli(open, ['upstreams', 'import', file]);
  expect(readOnly.out).toMatch(/writer: (?:left out|kept)/);
  await cli(open, ['upstreams', 'remove', 'writer']);
  const run = await cli(open, [
    'upstreams',
    'import',
    file,
    '--mount',
    `writer=${data}:rw`,
    '--network',
    'writer=127.0.0.1:9',
  ]);
  expect(run.out).toContain('writer: ready, 1 tools');
  expect(await readdir(data)).toEqual(['seen']);
  const { definition } = await open.layer.ask('upstreams.get', { name: 'writer' }, LOCAL_CALLER);
  expect(definition.transport).toMatchObject({
    mounts: [{ path: data, mode: 'rw' }],
    network: [{ host: '127.0.0.1', port: 9 }],
  });
  await cli(open, ['upstreams', 'remove', 'writer']);
});

test('API-05 an upstream is disabled for good, enabled, and leaves as a desktop file without its secrets', async () => {
  await open.layer.ask(
    'upstreams.add',
    {
      upstream: {
        name: 'lone',
        transport: { type: 'stdio', command: 'node', args: [script], env: { API_TOKEN: TOKEN_VALUE } },
      },
    },
    LOCAL_CALLER,
  );
  expect((await invoke('lone__say')).status).toBe('success');
  const off = await cli(open, ['upstreams', 'disable', 'lone']);
  expect(off).toMatchObject({ code: 0, out: 'lone: stopped\n' });
  expect((await invoke('lone__say')).error).toMatchObject({
    e_code: 'E3310',
    message: "The upstream 'lone' is disabled. Its operator starts it with: sallyport upstreams enable lone",
  });
  expect(await cli(open, ['upstreams', 'restart', 'lone'])).toMatchObject({ code: 1 });
  const exported = await cli(open, ['upstreams', 'export', 'lone']);
  expect(JSON.parse(exported.out)).toEqual({
    mcpServers: {
      lone: { type: 'stdio', command: 'node', args: [script], env: { API_TOKEN: '{{API_TOKEN}}' }, disabled: true },
    },
  });
  const operator = (await open.layer.mintToken({ roles: ['operator'] })).capability_token;
  const on = await post({ ...open, token: operator }, '/v1/upstreams/lone/activation', '{}');
  expect(on).toMatchObject({ status: 200, body: { upstream: { name: 'lone' } } });
  await until(async () => (await stateOf('lone')) === 'ready');
  expect((await invoke('lone__say')).status).toBe('success');
  expect(await cli(open, ['upstreams', 'disable', 'nobody'])).toMatchObject({ code: 1 });
});

test('API-05 logs shows what a server wrote on its standard error over its starts, without secrets, and follows it', async () => {
  const read = await cli(open, ['upstreams', 'logs', 'lone']);
  expect(read.out).toContain('started with ');
  expect(read.out).toContain('said alone');
  expect(read.out).not.toContain(TOKEN_VALUE);
  const stop = new AbortController();
  let seen = 0;
  const followed = cli(open, ['upstreams', 'logs', 'lone', '-f'], {
    signal: stop.signal,
    onOut: (text) => {
      seen += text.split('said alone').length - 1;
      if (seen === 1) void invoke('lone__say');
      if (seen > read.out.split('said alone').length - 1) stop.abort();
    },
  });
  expect((await followed).code).toBe(0);
});

test('API-05 a disabled upstream stays disabled when the layer is started anew', async () => {
  const folder = await temporaryDataFolder('disabled-');
  const settings = { data_folder: folder, 'agent.mounts': [`${tmpdir()}:rw`] };
  const start = () => createToolLayer({ settings, log: silentLog, environment: {} });
  try {
    const first = await start();
    const transport = { type: 'stdio' as const, command: 'node', args: [script] };
    await first.ask('upstreams.add', { upstream: { name: 'lone', transport } }, LOCAL_CALLER);
    await first.ask('upstreams.disable', { name: 'lone' }, LOCAL_CALLER);
    await first.close();
    const second = await start();
    const { upstreams } = await second.ask('upstreams.list', {}, LOCAL_CALLER);
    expect(upstreams).toMatchObject([{ name: 'lone', state: 'stopped' }]);
    await second.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
