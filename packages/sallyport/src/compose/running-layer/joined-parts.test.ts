import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { EXIT } from '../../doors/cli/cli-parts.ts';
import { temporaryDataFolder } from '../../storage/postgres/embedded/prepared-database.fixture.ts';
import { type Log, silentLog } from '../../telemetry/log.ts';
import { createToolLayer, type EmbeddedToolLayer, LOCAL_CALLER, type ToolLayerOptions } from '../create-tool-layer.ts';
import { findLayer, openLayer } from '../open-layer.ts';
import { serveStandardStreams } from '../parts/gateway/standard-streams.ts';
import { type Server, serve } from '../serve.ts';
import { lastLayer } from './last-layer.ts';
import { localSocketFolder } from './local-socket.ts';
import { readRunningLayers } from './running-layer-file.ts';
import { serveUntilStopped } from './serve-until-stopped.ts';

const opened = new AsyncDisposableStack();
let folder: string;
let layer: EmbeddedToolLayer;
let token: string;
/** What the options of the program were called with. */
const stages = new Set<string>();
const effects: string[] = [];
const hooked: string[] = [];

const tool = (tool_id: string, more: Partial<ToolManifest> = {}): ToolManifest => ({
  ...{
    tool_id,
    tool_name: tool_id,
    version: '1.0.0',
    description: `Does ${tool_id}.`,
    side_effect_policy: 'irreversible',
  },
  parameters_schema: {
    type: 'object',
    properties: { n: { type: 'number', description: 'A number.' } },
    additionalProperties: false,
  },
  executor: { kind: 'native' },
  ...more,
});

const OPTIONS: Pick<ToolLayerOptions, 'hooks' | 'onSideEffect' | 'onStage'> = {
  hooks: [
    {
      id: 'own',
      at: 'before',
      run: ({ toolId, arguments: { n } }) => {
        hooked.push(toolId);
        return n === 13 ? { outcome: 'refuse', reason: 'Not thirteen.' } : undefined;
      },
    },
  ],
  onStage: (stage) => void stages.add(stage),
  onSideEffect: ({ type }) => void effects.push(type.slice(type.lastIndexOf('.') + 1)),
};

beforeAll(async () => {
  folder = await temporaryDataFolder('sallyport-joined-');
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'shell-policy.toml'), 'blocked = ["make deploy"]\n');
  layer = await createToolLayer({
    settings: {
      data_folder: folder,
      'search.embedder': 'none',
      'tokens.mode': 'optional',
      'documents.embedded': 'on',
      'validation.coerce_epochs': true,
      'shutdown.notice_seconds': 0,
    },
    log: silentLog,
    environment: {},
    ...OPTIONS,
  });
  opened.defer(() => layer.close());
  await layer.registerFunction(tool('plain'), ({ n }) => ({ got: n }));
  ({ capability_token: token } = await layer.mintToken({ agent_did: 'did:example:a' }));
});
afterAll(() => opened.disposeAsync());

const invoke = (tool_id: string, parameters: Readonly<Record<string, unknown>> = {}) =>
  layer.invoke({ tool_id, parameters }, { token });

describe('the options of an embedding program', () => {
  test('PIPE-14 VIS-09.1 its hooks are asked, its listeners are notified, and each stage is timed', async () => {
    expect(await invoke('plain', { n: 1 })).toMatchObject({ status: 'success', result: { got: 1 } });
    const refused = await invoke('plain', { n: 13 });
    expect(refused).toMatchObject({ error: { e_code: 'E3815', message: expect.stringContaining('Not thirteen.') } });
    expect([hooked, effects]).toEqual([
      ['plain', 'plain'],
      ['started', 'completed'],
    ]);
    expect([...stages]).toEqual(expect.arrayContaining(['admit', 'consult', 'execute', 'settle']));
  });

  test('REG-02 a function is bound to the version that is named, to no tool of another kind, and until it is released', async () => {
    for (const version of ['1.0.0', '2.0.0'])
      await layer.ask('tools.register', { manifest: { ...tool('versions'), version } }, LOCAL_CALLER);
    const bound = await layer.bindFunction('versions', () => 'first', '^1.0.0');
    await layer.bindFunction('versions', () => 'second');
    const ask = async (tool_version?: string) =>
      (await layer.invoke({ tool_id: 'versions', ...(tool_version && { tool_version }), parameters: {} }, { token }))
        .result;
    expect([await ask('1.0.0'), await ask()]).toEqual(['first', 'second']);
    bound[Symbol.dispose]();
    expect(await ask('1.0.0')).not.toBe('first');
    const shell = tool('deploy', { executor: { kind: 'shell', config: { command: ['make', 'deploy'] } } });
    await layer.ask('tools.register', { manifest: shell }, LOCAL_CALLER);
    await expect(layer.bindFunction('deploy', () => 1)).rejects.toMatchObject({ code: 'E3901' });
  });

  test('EXE-02.3 the rules of the operator for commands are those of the file in the data folder', async () => {
    expect(await invoke('deploy')).toMatchObject({ status: 'permission_denied', error: { e_code: 'E3210' } });
  });

  test('OPS-01.1 what a layer cannot start with is refused before anything is started', async () => {
    const file = join(folder, 'shell-policy.toml', 'data');
    const start = (settings: NonNullable<ToolLayerOptions['settings']>) =>
      createToolLayer({ settings, log: silentLog, environment: {} });
    await expect(start({ data_folder: file })).rejects.toMatchObject({
      ...{ code: 'E3812', message: expect.stringContaining(`The data folder ${file} cannot be made or used`) },
    });
    const fresh = join(folder, 'fresh');
    const wrong = { data_folder: fresh, 'circuits.failure_rate_threshold': 101 };
    await expect(start(wrong)).rejects.toMatchObject({ code: 'E3403' });
    await expect(start({ data_folder: fresh, 'auth.dev': true, 'server.host': '0.0.0.0' })).rejects.toMatchObject({
      code: 'E3801',
    });
    await expect(stat(fresh)).rejects.toThrow('ENOENT');
    const settingsFile = join(folder, 'none.toml');
    await expect(createToolLayer({ settingsFile, log: silentLog, environment: {} })).rejects.toMatchObject({
      ...{ code: 'E3801', message: expect.stringContaining(`${settingsFile} cannot be read`) },
    });
  });

  test('OPS-01.1 AUD-02 variables that mean nothing are in the log, which holds no personal data', async () => {
    const warned: unknown[] = [];
    const log: Log = { ...silentLog, warn: (event, fields) => void warned.push([event, fields]) };
    const settings = { data_folder: join(folder, 'other'), 'database.url': 'postgres://nobody@127.0.0.1:9/none' };
    const environment = { 'SALLYPORT_ann.lee@example.org': 'x' };
    await expect(createToolLayer({ settings, log, environment })).rejects.toMatchObject({ code: 'E3812' });
    expect(warned).toEqual([['unknown-variables', { variables: ['[REDACTED:email]'] }]]);
  });

  test('VAL-02 arguments are converted as the settings say', async () => {
    const parameters_schema = {
      type: 'object',
      properties: { at: { type: 'string', format: 'date-time', description: 'When.' } },
      additionalProperties: false,
    };
    await layer.registerFunction(tool('dated', { parameters_schema }), ({ at }) => at);
    expect(await invoke('dated', { at: 1_700_000_000 })).toMatchObject({ result: '2023-11-14T22:13:20Z' });
  });

  test('DOC-01.4 a reference server is there where the settings say so, without being asked for', async () => {
    const { upstreams } = await layer.ask('upstreams.list', {}, LOCAL_CALLER);
    expect(upstreams.map(({ name }) => name)).toEqual(['documents']);
  });
});

describe('the layer of a data folder', () => {
  const options = () => ({ dataFolder: folder });
  let server: Server;

  test('PRM-02.6 where tokens are not required it listens on loopback only', async () => {
    await expect(serve(layer, { host: '0.0.0.0', port: 0 })).rejects.toMatchObject({
      ...{ code: 'E3801', message: 'tokens.mode is optional, so the layer listens on loopback only, not on 0.0.0.0.' },
    });
  });

  test('API-05 while it serves nobody the folder is in use; once it serves, others ask it', async () => {
    await expect(findLayer(options(), { environment: {} })).rejects.toMatchObject({
      failure: { details: { problem: 'folder-in-use' } },
    });
    // Somebody who waits finds it as soon as it serves.
    const waiting = findLayer(options(), { environment: {}, patienceMs: 60_000 });
    server = await serve(layer, { port: 0 });
    expect(await waiting).toMatchObject({ running: { url: server.url, pid: process.pid } });
    const found = await openLayer(options(), { environment: {} });
    expect(found).toMatchObject({ url: server.url, caller: { door: 'cli' }, dataFolder: folder });
    expect(found.caller).not.toHaveProperty('local');
    expect(await found.layer.ask('health', {}, found.caller)).toMatchObject({ ready: true });
    await found.close();
    expect(await layer.ask('health', {}, LOCAL_CALLER)).toMatchObject({ status: expect.any(String) });
  });

  test('OPS-03.2 doors that cannot be opened leave nothing open, and what serves already alone', async () => {
    const gateways = new Set<object>();
    const clientQuestions = {
      answeredBy: (gateway: object) => {
        gateways.add(gateway);
        return { [Symbol.dispose]: () => void gateways.delete(gateway) };
      },
    };
    const own = { ...layer, forGateway: { ...layer.forGateway, clientQuestions } };
    const sockets = async () => (await readdir(localSocketFolder(folder))).length;
    const before = await sockets();
    const port = Number(new URL(server.url).port);
    await expect(serve(own, { port })).rejects.toMatchObject({ code: 'E3900' });
    expect([gateways.size, await sockets()]).toEqual([0, before]);
    expect(await findLayer(options(), { environment: {} })).toMatchObject({ running: { url: server.url } });
    await using second = await serve(own, { port: 0 });
    expect([second.url === server.url, gateways.size]).toEqual([false, 1]);
    await second.close();
    expect(gateways.size).toBe(0);
    expect(await findLayer(options(), { environment: {} })).toMatchObject({ running: { url: server.url } });
  });

  test('API-05 a client on standard input and output is answered by it, with a token of its own', async () => {
    const { lines, notes, code } = await session({ dataFolder: folder });
    expect(lines[0]?.result.serverInfo.name).toBeTypeOf('string');
    expect(lines[1]?.result.tools.map(({ name }: { name: string }) => name)).toContain('plain');
    expect([code, notes]).toEqual([
      0,
      [
        `sallyport mcp: data folder ${folder} (from --data-folder). The layer at ${server.url} serves it and answers here.`,
      ],
    ]);
  });

  test('API-05 a client learns that the layer of another client has ended; one that may be restarted is waited for', async () => {
    const [name = ''] = (await readdir(folder)).filter((each) => each.startsWith('running-'));
    const path = join(folder, name);
    const written = JSON.parse(await readFile(path, 'utf8'));
    for (const [endsWithClient, dies] of [
      [false, true],
      [true, false],
      [true, true],
    ]) {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const process = spawn('sleep', ['600']);
      const exited = once(process, 'exit');
      await once(process, 'spawn');
      await writeFile(path, JSON.stringify({ ...written, pid: process.pid, endsWithClient }));
      const looking = vi.getTimerCount();
      const isLost = endsWithClient && dies;
      const { notes, code } = await session({ dataFolder: folder }, async (ended) => {
        if (dies) process.kill();
        if (dies) await exited;
        vi.advanceTimersByTime(200);
        if (isLost) await ended;
      });
      expect(code).toBe(isLost ? EXIT.unreachable : EXIT.ok);
      expect(notes.slice(1)).toEqual(isLost ? [expect.stringContaining('Start this server anew')] : []);
      expect(vi.getTimerCount()).toBe(looking);
      process.kill();
      vi.useRealTimers();
    }
    await writeFile(path, JSON.stringify(written));
  });

  test('OPS-03.2 a server that is closed is not found any more, and is closed once', async () => {
    const closing = server.close();
    expect(server.close()).toBe(closing);
    await closing;
    expect(await readRunningLayers(folder)).toEqual([]);
    expect(await layer.ask('health', {}, LOCAL_CALLER)).toMatchObject({ ready: true });
  });
});

describe('a data folder that no layer has used', () => {
  test('API-05 is refused, or lent for one command and left empty, or made', async () => {
    const fresh = await mkdtemp(join(tmpdir(), 'sallyport-fresh-'));
    opened.defer(() => rm(fresh, { recursive: true, force: true }));
    const options = { dataFolder: fresh };
    await expect(openLayer(options, { environment: {}, whenAbsent: 'refuse' })).rejects.toMatchObject({
      ...{ code: 'E3310', message: expect.stringContaining(`No layer has used the data folder ${fresh}`) },
      failure: { details: { layer: 'unreachable', data_folder: fresh } },
    });
    const lent = await findLayer(options, { environment: { SALLYPORT_SEARCH_EMBEDDER: 'none' }, whenAbsent: 'borrow' });
    if (!('own' in lent)) throw new Error('a running layer was found');
    const place = lent.own.settings.data_folder;
    expect([place === fresh, await readdir(fresh)]).toEqual([false, []]);
    expect((await lent.own.ask('upstreams.list', {}, LOCAL_CALLER)).upstreams).toEqual([]);
    await lent.close();
    await expect(stat(place)).rejects.toThrow('ENOENT');
  });

  test('API-05 DOC-01.4 sallyport mcp makes it, serves its client and other programs, and closes with the client', async () => {
    const fresh = await temporaryDataFolder('sallyport-fresh-');
    opened.defer(() => rm(fresh, { recursive: true, force: true }));
    await mkdir(fresh, { recursive: true });
    let running: readonly object[] = [];
    const { lines, notes, code } = await session({ dataFolder: fresh }, async () => {
      running = await readRunningLayers(fresh);
    });
    const names: string[] = lines[1]?.result.tools.map(({ name }: { name: string }) => name) ?? [];
    expect(names.some((name) => name.startsWith('documents__'))).toBe(true);
    expect([code, notes]).toEqual([
      0,
      [expect.stringContaining('No layer had used it, so it was made, without any tools.')],
    ]);
    expect(running).toMatchObject([{ pid: process.pid, endsWithClient: true }]);
    expect((await readdir(fresh)).filter((name) => name.startsWith('running'))).toEqual([]);
  });
});

test('API-05 PRM-11.7 sallyport serve says where it is and how to log in, is remembered, and ends with its signal', async () => {
  const fresh = await temporaryDataFolder('sallyport-fresh-');
  opened.defer(() => rm(fresh, { recursive: true, force: true }));
  vi.stubEnv('XDG_STATE_HOME', join(folder, 'state'));
  vi.stubEnv('SALLYPORT_LOG_LEVEL', 'error');
  const [host, port] = ['127.0.0.1', await freePort()];
  const url = `http://${host}:${port}`;
  const stopped = new AbortController();
  const said: string[] = [];
  const streams = { signal: stopped.signal, write: (text: string) => void said.push(...text.trimEnd().split('\n')) };
  const ended = serveUntilStopped({ dataFolder: fresh, host, port, authorizes: true }, streams);
  await expect.poll(() => said.length, { interval: 20 }).toBe(3);
  expect(said).toEqual([
    `Sallyport is ready at ${url}`,
    expect.stringMatching(/^For development: MCP clients connect to http:\S+\/mcp, and \S+ logs in in the browser\.$/),
    expect.stringMatching(/^Login code: \w{5}-\w{5}$/),
  ]);
  expect([await lastLayer(), (await fetch(`${url}/health`)).status < 500]).toEqual([fresh, true]);
  stopped.abort();
  expect(await ended).toBe(0);
  await expect(fetch(`${url}/health`)).rejects.toThrow();
  vi.unstubAllEnvs();
});

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface Line {
  readonly id?: number;
  readonly result: { readonly serverInfo: { readonly name: string }; readonly tools: { readonly name: string }[] };
}

/** A session of a client that lists the tools, and then leaves. */
async function session(
  options: { dataFolder: string },
  whileOpen: (ended: Promise<number>) => Promise<void> = async () => undefined,
) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const notes: string[] = [];
  const ended = serveStandardStreams(options, {
    ...{ input, output, signal: new AbortController().signal },
    note: (line) => void notes.push(line),
  });
  const answers = createInterface({ input: output })[Symbol.asyncIterator]();
  const lines: Line[] = [];
  const ask = async (id: number, method: string, params: object): Promise<void> => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const { value } = await answers.next();
      const line = JSON.parse(String(value)) as Line;
      if (line.id === id) return void lines.push(line);
    }
  };
  const clientInfo = { name: 'test', version: '1.0.0' };
  await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  await ask(2, 'tools/list', {});
  await whileOpen(ended);
  input.end();
  return { lines, notes, code: await ended };
}
