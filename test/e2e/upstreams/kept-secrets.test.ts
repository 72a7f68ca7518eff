import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToolLayer, LOCAL_CALLER, type Settings, silentLog } from '../../../packages/sallyport/src/index.ts';
import { prepareDatabase } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { embeddedDatabases } from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { cli } from './cli.fixture.ts';

/** Random, so that this file, which is on the disk too, does not contain the secrets. */
const secret = (kind: string): string => `${kind}${Math.random().toString(36).slice(2)}Q7`;
const TOKEN = secret('ghp_');
const ARGUMENT = secret('sk-arg-');
const BEARER = secret('bearer');
const QUERY = secret('query');
const ALL = [TOKEN, ARGUMENT, BEARER, QUERY];
/**
 * Prints the lengths of its credentials, so that a test can see that the server received them; exits without a
 * credential.
 */
const SERVER = `
import { createInterface } from 'node:readline';
const token = process.env.GITHUB_TOKEN ?? '';
if (token === '') process.exit(3);
const said = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const tool = { name: 'lengths', description: 'Says the lengths.', inputSchema: { type: 'object' } };
  if (method === 'initialize') said(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });
  else if (method === 'tools/list') said(id, { tools: [tool] });
  else if (method === 'tools/call') said(id, { content: [{ type: 'text', text: [token.length, (process.argv[3] ?? '').length, process.env.MODE].join(' ') }] });
  else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } }));
}`;

let place: string;
let configuration: string;
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'kept-secrets-'));
  const script = join(place, 'server.mjs');
  writeFileSync(script, SERVER);
  configuration = join(place, 'claude_desktop_config.json');
  const github = {
    command: 'node',
    args: [script, '--api-key', ARGUMENT],
    env: { GITHUB_TOKEN: TOKEN, MODE: 'fast' },
  };
  const remote = { url: `http://127.0.0.1:1/mcp?id=${QUERY}`, headers: { Authorization: `Bearer ${BEARER}` } };
  writeFileSync(configuration, JSON.stringify({ mcpServers: { github, remote } }));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** Opens a layer, with its command line, on a folder that outlives the layer. */
async function start(name: string, more: Partial<Settings> = {}, environment: Record<string, string> = {}) {
  const folder = join(place, name);
  const settings = { data_folder: folder, 'agent.mounts': [`${tmpdir()}:rw`], ...more };
  await prepareDatabase(folder);
  const layer = await createToolLayer({ settings, log: silentLog, environment });
  const { capability_token } = await layer.mintToken({});
  const lengths = async (): Promise<string> =>
    JSON.stringify(await layer.invoke({ tool_id: 'github__lengths', parameters: {}, capability_token }));
  return {
    layer,
    folder,
    lengths,
    run: (...argv: string[]) => cli({ layer, folder } as Parameters<typeof cli>[0], argv),
    [Symbol.asyncDispose]: () => layer.close(),
  };
}

/** The files below a folder that hold one of the secrets. */
const holders = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => ALL.some((each) => readFileSync(file).includes(each)));

test('EXT-01 secrets of a configuration that moved in are nowhere in the data folder, serve after a restart, and go with their upstream', async () => {
  const lengths = `4 ${ARGUMENT.length} fast`.replace('4', String(TOKEN.length));
  {
    await using first = await start('own');
    const dry = await first.run('upstreams', 'import', configuration, '--dry-run');
    expect(dry.err + dry.out).toContain('github: GITHUB_TOKEN is a secret. It is kept encrypted');
    const done = await first.run('upstreams', 'import', configuration);
    expect(done.out).toContain('github: ready, 1 tools');
    expect(await first.lengths()).toContain(lengths);
    const exported = await first.run('upstreams', 'export');
    expect(JSON.parse(exported.out).mcpServers).toMatchObject({
      github: { args: [expect.any(String), '--api-key', '{{api-key}}'], env: { GITHUB_TOKEN: '{{GITHUB_TOKEN}}' } },
      remote: { headers: { Authorization: '{{Authorization}}' } },
    });
    expect(exported.err).toContain('without values of secrets');
    for (const text of [done, exported, dry, await first.run('upstreams', 'show', 'github', '--json')])
      for (const each of ALL) expect(JSON.stringify(text)).not.toContain(each);
  }
  const folder = join(place, 'own');
  expect(holders(folder)).toEqual([]);
  expect(statSync(join(folder, 'secrets')).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'secrets', 'key')).mode & 0o777).toBe(0o600);

  await using again = await start('own');
  await expect.poll(again.lengths).toContain(lengths);
  // The key's folder, or a folder above it, cannot be mounted for anything that runs a tool.
  const key = { path: join(folder, 'secrets'), mode: 'ro' as const };
  const reading = { name: 'reading', transport: { type: 'stdio' as const, command: 'node', mounts: [key] } };
  await expect(again.layer.ask('upstreams.add', { upstream: reading }, LOCAL_CALLER)).rejects.toMatchObject({
    code: 'E3105',
  });
  expect((await again.run('upstreams', 'remove', 'github')).code).toBe(0);
  expect(JSON.parse((await again.run('upstreams', 'export')).out).mcpServers).not.toHaveProperty('github');
  expect(holders(folder)).toEqual([]);
});

test('EXT-01 what another key encrypted is asked for by name until the key is there again', async () => {
  {
    await using before = await start('keys');
    await before.run('upstreams', 'import', configuration);
  }
  const key = join(place, 'keys', 'secrets', 'key');
  const kept = readFileSync(key);
  rmSync(key);
  {
    await using other = await start('keys');
    const status = async () => (await other.run('upstreams', 'show', 'github')).out;
    await expect.poll(status).toContain('SALLYPORT_SECRET_GITHUB_GITHUB_TOKEN');
  }
  writeFileSync(key, kept);
  await using back = await start('keys');
  await expect.poll(back.lengths).toContain(String(TOKEN.length));
});

test('EXT-01 where instances share a database, no secret is kept, and the import says which variable to set on each', async () => {
  const databases = await embeddedDatabases(true);
  try {
    const connection = await databases.fresh();
    const shared = { 'database.url': 'url' in connection ? connection.url : '' };
    {
      await using first = await start('shared-1', shared);
      const done = await first.run('upstreams', 'import', configuration);
      expect(done.out + done.err).toMatch(/SALLYPORT_SECRET_GITHUB_GITHUB_TOKEN.*for every instance/);
      expect(done.out).toMatch(
        /github: kept and tried again, not connected yet: .*SALLYPORT_SECRET_GITHUB_GITHUB_TOKEN/,
      );
      expect(JSON.parse((await first.run('upstreams', 'export')).out).mcpServers).toMatchObject({
        github: { env: { GITHUB_TOKEN: '{{github.GITHUB_TOKEN}}', MODE: '{{MODE}}' } },
        remote: { headers: { Authorization: 'Bearer {{remote.Authorization}}' } },
      });
      expect(holders(first.folder)).toEqual([]);
    }
    await using second = await start('shared-2', shared, { SALLYPORT_SECRET_GITHUB_GITHUB_TOKEN: TOKEN });
    const state = async () => (await second.run('upstreams', 'list')).out;
    await expect.poll(state).toMatch(/github +ready/);
  } finally {
    await databases.close();
  }
});
