import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { parse as tomlOf } from 'smol-toml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLayer as openForCommands } from '../../../packages/sallyport/src/compose/open-layer.ts';
import { runCli } from '../../../packages/sallyport/src/doors/cli/run-cli.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from '../layer.fixture.ts';
import { MAIN } from './sallyport-program.fixture.ts';

let open: OpenLayer;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'sallyport-home-'));
  open = await openLayer();
  await open.layer.registerFunction(DOUBLE, double);
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

async function connect(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const unused = () => Promise.reject(new Error('not asked for'));
  const code = await runCli(['connect', ...args, '--data-folder', open.folder], {
    io: {
      stdin: (async function* () {})(),
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      env: { HOME: home },
      cwd: home,
      signal: new AbortController().signal,
    },
    version: '1.0.0',
    program: [process.execPath, MAIN],
    openLayer: (options, whenAbsent) => openForCommands(options, { whenAbsent, environment: {} }),
    serve: unused,
    mcpStdio: unused,
    doctor: unused,
    migrateSettings: unused,
  });
  return { code, out, err };
}

const config = async (...args: string[]) => JSON.parse((await connect(...args, '--json')).out).config;

test('API-05 what connect prints for a client that starts a program works from any folder', async () => {
  const { mcpServers } = await config('claude-desktop');
  const { command, args, env } = mcpServers.sallyport;
  expect([command, args[0], args.at(-1)]).toEqual([process.execPath, MAIN, open.folder]);
  const { PATH = '' } = process.env;
  const client = new Client({ name: 'pasted', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ command, args, env: { PATH, HOME: home, ...env }, cwd: '/' }));
  const { content } = await client.callTool({ name: 'double', arguments: { n: 4 } });
  expect(JSON.stringify(content)).toContain('8');
  await client.close();
}, 60_000);

test.each([
  ['claude-code', 'mcpServers', { type: 'http', url: 1, headers: 1 }],
  ['cursor', 'mcpServers', { url: 1, headers: 1 }],
  ['vscode', 'servers', { type: 'http', url: 1, headers: 1 }],
  ['windsurf', 'mcpServers', { serverUrl: 1, headers: 1 }],
  ['codex', 'mcp_servers', { url: 1, http_headers: 1 }],
  ['gemini', 'mcpServers', { httpUrl: 1, headers: 1 }],
  ['zed', 'context_servers', { url: 1, headers: 1 }],
])(
  'API-05 connect %s --http gives the form of that client, with an address and a token that work',
  async (name, table, form) => {
    const entry = (await config(name, '--http'))[table].sallyport;
    expect(Object.keys(entry)).toEqual(Object.keys(form));
    const url = entry.url ?? entry.serverUrl ?? entry.httpUrl;
    expect(url).toBe(`${open.server.url}/mcp`);
    const client = new Client({ name: 'pasted', version: '1.0.0' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers: entry.headers ?? entry.http_headers },
      }),
    );
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['double']);
    await client.close();
  },
);

const JSONC = `{
    // mine
    "mcpServers": {
        "other": { "command": "x", "args": [ "a",   "b" ] }, // kept
    },
    "theme":"dark"
}
`;
const TOML = `# mine
model = "m"   # kept

[mcp_servers.other]
command = "x"
`;

test.each([
  ['cursor', 'a.json', JSONC],
  ['vscode', 'b.json', '{}'],
  ['zed', 'c.json', '{\r\n\t"theme": 1,\r\n\t"b": [ ]\r\n}\r\n'],
  ['codex', 'd.toml', TOML],
  ['gemini', 'e.json', undefined],
  ['codex', 'f.toml', undefined],
])(
  'API-05 connect %s --write adds one server to %s, --undo gives back every byte and revokes the token',
  async (client, name, text) => {
    const file = join(home, name);
    if (text !== undefined) await writeFile(file, text, { mode: 0o640 });
    const wrote = await connect(client, '--write', '--file', file);
    expect(wrote).toMatchObject({ code: 0, out: expect.stringMatching(/good until .*did:sallyport:/) });
    const once = await readFile(file, 'utf8');
    const token = /ey[\w-]+\.[\w-]+\.[\w-]+/.exec(once)?.[0] ?? '';
    expect(wrote.out + wrote.err).not.toContain(token);
    const kept = (text ?? '').match(/\/\/ \w+|"args": \[.*\]|"theme".*\d?|"b": \[ \]|.*# \w+/g) ?? [];
    for (const part of kept) expect(once).toContain(part);
    expect((await stat(file)).mode & 0o777).toBe(text === undefined ? 0o600 : 0o640);
    if (text !== undefined) expect(await readFile(`${file}.before-sallyport`, 'utf8')).toBe(text);

    expect((await connect(client, '--write', '--file', file)).code).toBe(0);
    const twice = await readFile(file, 'utf8');
    const masked = (one: string) => one.replaceAll(/ey[\w-]+\.[\w-]+\.[\w-]+/g, 'TOKEN');
    expect(masked(twice)).toBe(masked(once));
    expect(await open.layer.ask('tokens.explain', { token }, { door: 'library', local: true })).toMatchObject({
      accepted: false,
    });

    expect((await connect(client, '--undo', '--file', file)).code).toBe(0);
    const second = /ey[\w-]+\.[\w-]+\.[\w-]+/.exec(twice)?.[0] ?? '';
    expect(await open.layer.ask('tokens.explain', { token: second }, { door: 'library', local: true })).toMatchObject({
      accepted: false,
    });
    if (text === undefined) await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
    else expect(await readFile(file, 'utf8')).toBe(text);
    expect((await readdir(home)).filter((each) => each.startsWith(name))).toEqual(text === undefined ? [] : [name]);
  },
);

test('API-05 --undo leaves what was changed since, and both leave what is not ours', async () => {
  const file = join(home, 'since.toml');
  await writeFile(file, TOML);
  await connect('codex', '--write', '--file', file);
  await writeFile(file, `${await readFile(file, 'utf8')}\n[mcp_servers.later]\ncommand = "y"\n`);
  await connect('codex', '--undo', '--file', file);
  expect(tomlOf(await readFile(file, 'utf8'))).toEqual({
    model: 'm',
    mcp_servers: { other: { command: 'x' }, later: { command: 'y' } },
  });
  const foreign = join(home, 'foreign.json');
  await writeFile(foreign, '{"mcpServers":{"sallyport":{"command":"theirs"}}}');
  for (const what of ['--write', '--undo']) expect((await connect('cursor', what, '--file', foreign)).code).toBe(2);
  expect(await readFile(foreign, 'utf8')).toContain('theirs');
  await writeFile(foreign, '{ broken');
  expect((await connect('cursor', '--write', '--file', foreign)).code).toBe(2);
  expect(await readFile(foreign, 'utf8')).toBe('{ broken');
});

test("API-05 connect writes the client's documented file, through a link, and warns where others read it", async () => {
  const real = join(home, 'dotfile.json');
  await writeFile(real, '{}');
  await chmod(real, 0o644);
  await symlink(real, join(home, '.claude.json'));
  const { code, err } = await connect('claude-code', '--write', '--expires', 'never');
  expect([code, err]).toEqual([0, expect.stringContaining('chmod 600')]);
  expect(JSON.parse(await readFile(real, 'utf8')).mcpServers.sallyport.type).toBe('stdio');
  const { keys } = await open.layer.ask('api-keys.list', {}, { door: 'library', local: true });
  expect(keys).toMatchObject([
    { name: 'connect claude-code', agent_did: 'did:sallyport:claude-code', state: 'active' },
  ]);
  expect((await connect('claude-code', '--undo')).code).toBe(0);
  expect(await readFile(real, 'utf8')).toBe('{}');
});

test('API-05 connect says what it cannot do', async () => {
  expect(await connect('claude-desktop', '--http')).toMatchObject({
    code: 2,
    err: expect.stringContaining('no addresses'),
  });
  expect(await connect('nobody')).toMatchObject({ code: 2, err: expect.stringContaining('windsurf') });
  expect(await connect('cursor', '--expires', '0s')).toMatchObject({ code: 2 });
  expect(await connect('cursor', '--write', '--undo')).toMatchObject({ code: 2 });
});
