import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { systemClock } from '@sallyport/std/clock';
import { afterEach, describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { createEgressGuard } from '../../external/egress-guard.ts';
import { createOutboundHttp } from '../../external/outbound-http.ts';
import { importComposioTools } from '../../registry/importers/composio/composio-importer.ts';
import { executorConformance } from '../conformance/executor.conformance.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import type { Executor, ExecutorCall } from '../executor.port.ts';
import { createComposioExecutor } from './composio-executor.ts';
import { configFaults } from './config-faults.ts';

const KEY = 'key-of-the-project';
const never = new AbortController().signal;

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** A stand-in for Composio's execute endpoint, made from its OpenAPI document. */
interface Stand {
  readonly executor: Executor;
  readonly seen: Seen[];
  readonly sockets: Set<Socket>;
  answer: (response: ServerResponse) => void;
  call(config?: object, more?: Parameters<typeof callOf>[2], parameters?: Record<string, unknown>): ExecutorCall;
  close(): Promise<void>;
}

async function openStand(): Promise<Stand> {
  const sockets = new Set<Socket>();
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers, body: JSON.parse(text) });
    if (headers['x-api-key'] === KEY) stand.answer(response);
    else json(response, 401, { error: { message: 'Invalid API key', code: 10401, status: 401 } });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const outbound = createOutboundHttp({ guard: createEgressGuard() });
  const stand: Stand = {
    executor: createComposioExecutor({ outbound, clock: systemClock }),
    seen,
    sockets,
    answer: (response) => json(response, 200, { data: { id: 7 }, error: null, successful: true, log_id: 'log_1' }),
    call: (config = {}, more = {}, parameters = { title: 'x' }) =>
      callOf(manifestOf(port, config), parameters, { secrets: new Map([['composio_api_key', KEY]]), ...more }),
    async close() {
      outbound[Symbol.dispose]();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return stand;
}

function manifestOf(port: number, config: object): Pick<ToolManifest, 'executor' | 'permissions'> {
  const whole = {
    tool: 'GITHUB_CREATE_AN_ISSUE',
    base_url: `http://127.0.0.1:${port}/api/v3`,
    secret: 'composio_api_key',
    user_id: 'u',
  };
  return {
    executor: { kind: 'composio', config: { ...whole, ...config } },
    permissions: { network: [{ host: '127.0.0.1', port }], credentials: ['composio_api_key'] },
  };
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

executorConformance(test, 'composio', async () => {
  const stand = await openStand();
  return {
    executor: stand.executor,
    works: () => ({ call: stand.call(), result: { id: 7 } }),
    fails: () => stand.call({}, { secrets: new Map([['composio_api_key', 'wrong']]) }),
    hangs() {
      const { promise, resolve } = Promise.withResolvers<void>();
      stand.answer = () => resolve();
      return { call: stand.call(), running: () => promise };
    },
    faulty: () => stand.call({ tool: '' }).tool.manifest,
    leftovers: () => [...stand.sockets].filter((socket) => !socket.destroyed).length,
    close: stand.close,
  };
});

describe('EXE-08 a tool of Composio', () => {
  let stand: Stand | undefined;
  afterEach(async () => {
    await stand?.close();
    stand = undefined;
  });
  const open = async (): Promise<Stand> => {
    stand = await openStand();
    return stand;
  };

  test.each<[object, object]>([
    [{}, { user_id: 'u' }],
    [{ user_id: undefined, user_from: 'agent' }, { user_id: 'did:example:agent' }],
    [
      { user_id: undefined, user_from: 'tenant', version: '20250905_00' },
      { user_id: 'acme', version: '20250905_00' },
    ],
    [{ connected_account_id: 'ca_1' }, { user_id: 'u', connected_account_id: 'ca_1' }],
    [{ user_id: undefined, no_auth: true }, {}],
  ])('is asked for with the account of %j', async (config, sent) => {
    const { executor, seen, call } = await open();
    // Arguments of the model never replace the account.
    const parameters = { title: 'x', user_id: 'somebody', connected_account_id: 'ca_2' };
    await executor.execute(call(config, {}, parameters), never);
    expect(seen).toMatchObject([
      { method: 'POST', url: '/api/v3/tools/execute/GITHUB_CREATE_AN_ISSUE', body: { arguments: parameters } },
    ]);
    expect(seen[0]?.body).toEqual({ arguments: parameters, ...sent });
    expect(seen[0]?.headers['x-api-key']).toBe(KEY);
  });

  test('VAL-03.5 names the whole numbers of its data that were rounded', async () => {
    const { executor, call } = await open();
    const said = async (data: string) => {
      if (stand !== undefined)
        stand.answer = (response) =>
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(`{"data":${data},"successful":true,"x":9007199254740993}`);
      return executor.execute(call(), never);
    };
    expect(await said('{"id":9007199254740993}')).toMatchObject({ rounded: ['/id'] });
    expect(await said('9007199254740993')).toMatchObject({ rounded: [''] });
    expect(await said('{"id":7}')).not.toHaveProperty('rounded');
  });

  test.each<[object, object]>([
    [
      { data: {}, error: 'Not found', successful: false, log_id: 'log_2' },
      { error: 'Not found', log_id: 'log_2' },
    ],
    [
      { data: { left: 1 }, error: `bad ${KEY}`, successful: false },
      { error: 'bad [hidden]', data: { left: 1 } },
    ],
    [{ data: null, error: null, successful: false }, { error: 'The tool failed without a reason.' }],
    [{ data: {}, error: 'x', successful: 'true' }, { error: 'x' }],
  ])('that says that it failed gives that as its result', async (answer, result) => {
    const opened = await open();
    opened.answer = (response) => json(response, 200, answer);
    expect(await opened.executor.execute(opened.call(), never)).toMatchObject({ result, toolError: true });
  });

  test.each<[number, object, Record<string, string>, object]>([
    [
      400,
      { error: { message: 'No connected account found', code: 1, status: 400 } },
      {},
      { code: 'E3309', failure: { details: { status: 400, body: expect.stringContaining('No connected account') } } },
    ],
    [403, {}, {}, { code: 'E3307' }],
    [404, {}, {}, { code: 'E3309' }],
    [410, {}, {}, { code: 'E3309' }],
    [422, {}, {}, { code: 'E3309' }],
    [
      429,
      { message: 'Rate limit exceeded' },
      { 'retry-after': '3' },
      { code: 'E3303', failure: { retryAfterMs: 3000 } },
    ],
    [502, {}, {}, { code: 'E3304' }],
    [302, {}, { location: 'https://example.org/' }, { code: 'E3309' }],
  ])('that is refused with %i is told by its code', async (status, body, headers, error) => {
    const opened = await open();
    opened.answer = (response) => json(response, status, body, headers);
    await expect(opened.executor.execute(opened.call(), never)).rejects.toMatchObject(error);
    expect(opened.seen).toHaveLength(1);
  });

  test.each<[string, (response: ServerResponse) => void, string]>([
    ['no JSON', (response) => response.end('<html>'), 'E3308'],
    ['no result', (response) => json(response, 200, { data: {} }), 'E3308'],
    ['a list', (response) => json(response, 200, []), 'E3308'],
    [
      'more than the call may return',
      (response) => json(response, 200, { successful: true, data: 'x'.repeat(70_000) }),
      'E3102',
    ],
    ['nothing', (response) => response.destroy(), 'E3310'],
  ])('that answers with %s is told by its code', async (_what, answer, code) => {
    const opened = await open();
    opened.answer = answer;
    await expect(opened.executor.execute(opened.call(), never)).rejects.toMatchObject({ code });
  });

  test('without its key, with a broken one, or outside the grant is not called', async () => {
    const { executor, seen, call } = await open();
    await expect(executor.execute(call({}, { secrets: new Map() }), never)).rejects.toMatchObject({ code: 'E3302' });
    const broken = new Map([['composio_api_key', 'a\r\nb: c']]);
    await expect(executor.execute(call({}, { secrets: broken }), never)).rejects.toMatchObject({ code: 'E3302' });
    const { grant, ...rest } = call();
    const outside = { ...rest, grant: { ...grant, network: [] } };
    await expect(executor.execute(outside, never)).rejects.toMatchObject({ code: 'E3104' });
    expect(seen).toEqual([]);
  });
});

test.each<[string, object, object, string | undefined]>([
  ['a good one', {}, {}, undefined],
  [
    'http to a name',
    { base_url: 'http://example.org/api' },
    { network: [{ host: 'example.org', port: 80 }] },
    '/executor/config/base_url',
  ],
  ['an address that is not named', {}, { network: [] }, '/executor/config/base_url'],
  ['an address with a query', { base_url: 'https://127.0.0.1:1/?a' }, {}, '/executor/config/base_url'],
  ['a secret that is not named', {}, { credentials: [] }, '/executor/config/secret'],
  ['two users', { user_from: 'agent' }, {}, '/executor/config/user_from'],
  ['no user', { user_id: undefined }, {}, '/executor/config'],
  ['no user, none needed', { user_id: undefined, no_auth: true }, {}, undefined],
  ['a tool that is a path', { tool: '../x' }, {}, '/executor/config/tool'],
  ['something more', { api_key: 'x' }, {}, '/executor/config/api_key'],
])('faults of a configuration: %s', (_what, config, permissions, path) => {
  const { executor, permissions: named } = manifestOf(1, config);
  const given = JSON.parse(JSON.stringify({ executor, permissions: { ...named, ...permissions } }));
  const faults = configFaults(callOf(given).tool.manifest);
  expect(faults.map((fault) => fault.path)).toEqual(path === undefined ? [] : [path]);
});

test('EXE-08 what the importer writes has no faults', () => {
  const tool = { slug: 'A', input_parameters: { type: 'object', properties: {} }, version: '20250905_00' };
  const sources = [{}, { userId: 'u' }, { connectedAccountId: 'c' }, { userFrom: 'tenant' as const, secret: 's' }];
  const manifests = sources.flatMap(
    (source) => importComposioTools([tool, { ...tool, slug: 'B', no_auth: true }], source).manifests,
  );
  expect(manifests.flatMap((manifest) => configFaults(manifest))).toEqual([]);
});
