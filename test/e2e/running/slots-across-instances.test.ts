import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openLayer as connectTo } from '../../../packages/sallyport/src/compose/open-layer.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import {
  embeddedDatabases,
  run,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { DOUBLE, type OpenLayer, openLayer, post } from '../layer.fixture.ts';
import { MAIN } from './sallyport-program.fixture.ts';

const AGENT = 'did:example:busy';

let databases: TestDatabases;
let url: string;
let connection: Awaited<ReturnType<TestDatabases['fresh']>>;
beforeAll(async () => {
  databases = await embeddedDatabases(true);
});
afterAll(() => databases.close());
async function freshDatabase(): Promise<void> {
  connection = await databases.fresh();
  url = 'url' in connection ? connection.url : '';
}

const opened: OpenLayer[] = [];
async function closeAll(): Promise<void> {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
}
type Instance = Awaited<ReturnType<typeof instance>>;

/** A layer on the database, and a token of the agent at that layer. */
async function instance(settings: Parameters<typeof openLayer>[0] = {}) {
  const open = await openLayer({ 'database.url': url, 'calls.per_agent_max': 3, ...settings });
  opened.push(open);
  const { capability_token: token } = await open.layer.mintToken({ agent_did: AGENT });
  const { capability_token: otherToken } = await open.layer.mintToken({ agent_did: 'did:example:other' });
  const call = (tool_id: string, n: number, more: object = {}, bearer = token) =>
    post({ ...open, token: bearer }, '/v1/invocations', JSON.stringify({ tool_id, parameters: { n }, ...more }));
  return { ...open, token, otherToken, call };
}

/** A tool that counts its calls; each call runs until the test ends it. */
function counted() {
  const ends: (() => void)[] = [];
  let most = 0;
  let began = 0;
  return {
    ends,
    most: () => most,
    began: () => began,
    /** Ends running calls one by one until `count` calls have begun, then ends the rest. */
    async endAll(count: number): Promise<void> {
      while (began < count) {
        ends[0]?.();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      for (const end of [...ends]) end();
    },
    run: async ({ n }: Readonly<Record<string, unknown>>) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.push(resolve);
      began += 1;
      most = Math.max(most, ends.length);
      await promise;
      ends.splice(ends.indexOf(resolve), 1);
      return { value: Number(n) };
    },
  };
}

describe('two instances over one PostgreSQL', () => {
  let one: Instance;
  let two: Instance;
  beforeAll(async () => {
    await freshDatabase();
    [one, two] = [await instance(), await instance()];
  });
  afterAll(closeAll);

  /** Registers the same tool at both instances. */
  async function tool(tool_id: string) {
    const held = counted();
    for (const { layer } of [one, two]) await layer.registerFunction({ ...DOUBLE, tool_id }, held.run);
    return held;
  }

  test('PIPE-08.8 PIPE-08.2 run no more calls of an agent at once than it may, and answer all of them', async () => {
    const held = await tool('held');
    const calls = Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? one : two).call('held', n));
    await expect.poll(() => held.ends.length).toBe(3);
    await held.endAll(calls.length);
    const ends = (await Promise.all(calls)).map(({ status, body }) => [status, body['result']]);
    expect(ends).toEqual(calls.map((_, n) => [200, { value: n }]));
    expect(held.most()).toBe(3);
  });

  test('PIPE-08.8 PIPE-07 count calls that run later among them, and run each of them', async () => {
    const held = await tool('sooner_or_later');
    const later = { execution_options: { async_mode: true } };
    const calls = Array.from({ length: 12 }, (_, n) =>
      (n % 2 === 0 ? one : two).call('sooner_or_later', n, n % 3 === 0 ? {} : later),
    );
    await expect.poll(() => held.ends.length).toBe(3);
    await held.endAll(calls.length);
    for (const { status } of await Promise.all(calls)) expect([200, 202]).toContain(status);
    expect(held.most()).toBe(3);
    const open = 'select 1 from sallyport.tool_invocations where not is_final';
    await expect.poll(() => run(connection, open)).toEqual([]);
  });

  test('PIPE-08.8 let calls of another agent run meanwhile, in both', async () => {
    const [busy, other] = [await tool('busy'), await tool('other')];
    const calls = [one, two, one, two, one].map((each, n) => each.call('busy', n));
    await expect.poll(() => busy.ends.length).toBe(3);
    const others = [one, two].map((each, n) => each.call('other', n, {}, each.otherToken));
    await expect.poll(() => other.ends.length).toBe(2);
    expect(busy.began()).toBe(3);
    await other.endAll(others.length);
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200]);
    await busy.endAll(calls.length);
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(5).fill(200));
  });

  test('PIPE-08.8 refuse a call that cannot be counted', async () => {
    await tool('uncounted');
    await run(connection, 'alter table sallyport.agent_slots rename to away');
    const { capability_token: token } = await one.layer.mintToken({ agent_did: 'did:example:new' });
    const { body } = await one.call('uncounted', 1, {}, token);
    await run(connection, 'alter table sallyport.away rename to agent_slots');
    expect(body).toMatchObject({ error: { e_code: 'E3812', retryable: true } });
  });

  test('PIPE-08.8 count by themselves where calls.slot_store is memory', async () => {
    const held = await tool('full');
    const alone = await instance({ 'calls.slot_store': 'memory', 'calls.per_agent_max': 1 });
    const own = counted();
    await alone.layer.registerFunction({ ...DOUBLE, tool_id: 'full' }, own.run);
    const calls = [0, 1, 2].map((n) => one.call('full', n));
    await expect.poll(() => held.ends.length).toBe(3);
    calls.push(alone.call('full', 3));
    await expect.poll(() => own.ends.length).toBe(1);
    expect(await run(connection, 'select 1 from sallyport.slot_holders')).toHaveLength(2);
    await own.endAll(1);
    await held.endAll(3);
    await Promise.all(calls);
  });
});

describe('an instance that is killed', () => {
  let bank: Server;
  let folder: string;
  let child: ChildProcess | undefined;
  const asked: ServerResponse[] = [];
  beforeEach(async () => {
    await freshDatabase();
    bank = createServer((_request, response) => void asked.push(response));
    await new Promise<void>((done) => bank.listen(0, '127.0.0.1', done));
    folder = await temporaryDataFolder('sallyport-slots-');
  });
  afterEach(async () => {
    child?.kill('SIGKILL');
    for (const response of asked.splice(0)) response.destroy();
    await closeAll();
    bank.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  /** Starts `sallyport serve` as its own process; resolves with its URL once the process is ready. */
  async function serve(): Promise<string> {
    child = spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--data-folder', folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        SALLYPORT_LOG_LEVEL: 'silent',
        SALLYPORT_DATABASE_URL: url,
        SALLYPORT_CALLS_PER_AGENT_MAX: '1',
        SALLYPORT_WORKERS_LEASE_SECONDS: '2',
        XDG_STATE_HOME: folder,
      },
    });
    for await (const chunk of child.stdout?.setEncoding('utf8') ?? []) {
      const [, at] = /ready at (\S+)/.exec(String(chunk)) ?? [];
      if (at !== undefined) return at;
    }
    throw new Error('the layer ended before it was ready');
  }

  const asks = (port: number): ToolManifest => ({
    ...DOUBLE,
    tool_id: 'ask',
    tool_name: 'Ask',
    permissions: { network: [{ host: '127.0.0.1', port }] },
    executor: {
      kind: 'http',
      config: {
        base_url: `http://127.0.0.1:${port}`,
        method: 'GET',
        path: '/',
        parameters: [{ property: 'n', name: 'n', in: 'query', style: 'form', explode: true }],
      },
    },
  });

  test('PIPE-08.8 frees its slots once its lease is over, for a call that waits elsewhere', async () => {
    const { port } = bank.address() as AddressInfo;
    const at = await serve();
    const killed = await connectTo({ dataFolder: folder }, { environment: {} });
    await killed.layer.ask('tools.register', { manifest: asks(port) }, killed.caller);
    const mint = { agent_did: AGENT, hosts: ['127.0.0.1'], ports: [port] };
    const { capability_token: token } = await killed.layer.ask('tokens.mint', mint, killed.caller);
    const other = await instance({ 'calls.per_agent_max': 1 });
    const { capability_token: otherToken } = await other.layer.mintToken(mint);
    const body = JSON.stringify({ tool_id: 'ask', parameters: { n: 1 } });
    const cut = fetch(`${at}/v1/invocations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body,
    }).catch(() => undefined);
    await expect.poll(() => asked.length).toBe(1);
    const waiting = post({ ...other, token: otherToken }, '/v1/invocations', body);
    const wanted = 'select wanted from sallyport.agent_slots where wanted > 0';
    await expect.poll(() => run(connection, wanted)).toEqual([{ wanted: 1 }]);
    expect(asked).toHaveLength(1);
    child?.kill('SIGKILL');
    await cut;
    await expect.poll(() => asked.length).toBe(2);
    asked[1]?.setHeader('content-type', 'application/json').end('{"value":1}');
    expect((await waiting).status).toBe(200);
  });
});
