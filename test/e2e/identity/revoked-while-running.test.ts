import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { DOUBLE, type OpenLayer, openLayer, post } from '../layer.fixture.ts';

const TOOL = { ...DOUBLE, tool_id: 'waits', tool_name: 'waits', side_effect_policy: 'idempotent' } as const;
const AGENT = 'did:example:agent';
const CANCELLED = {
  status: 'cancelled',
  error: { e_code: 'E3805', message: expect.stringContaining('revoked') },
};
const PARAMETERS = { n: 1 };
const { works } = await createBubblewrapDriver().probe();

let databases: TestDatabases;
/** Two instances over one PostgreSQL. */
let one: OpenLayer;
let two: OpenLayer;
/** How many calls of the tool have begun; such a call ends only when it is aborted. */
let begun = 0;

beforeAll(async () => {
  databases = await embeddedDatabases(true);
  const connection = await databases.fresh();
  const settings = { 'database.url': 'url' in connection ? connection.url : '' };
  one = await openLayer(settings);
  two = await openLayer(settings);
  for (const { layer } of [one, two]) await layer.registerFunction(TOOL, waits);
});
afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await two?.[Symbol.asyncDispose]();
  await databases.close();
});

const waits = async (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
  begun += 1;
  await once(signal, 'abort');
  throw signal.reason;
};

async function started(run: () => unknown): Promise<void> {
  const before = begun;
  run();
  while (begun === before) await sleep(5);
}

/** The answer to a call that is running when `revoke` is called. */
async function callThat(runner: OpenLayer, token: string, revoke: () => Promise<unknown>): Promise<unknown> {
  let answer: ReturnType<typeof post> | undefined;
  await started(() => {
    answer = post(
      { ...runner, token },
      '/v1/invocations',
      JSON.stringify({ tool_id: 'waits', parameters: PARAMETERS }),
    );
  });
  await revoke();
  return (await answer)?.body;
}

describe('what runs under a credential that is revoked', () => {
  test('PRM-01 PIPE-06 a call ends as cancelled with its token', async () => {
    const { capability_token: token } = await one.layer.mintToken({});
    const ended = await callThat(one, token, () => one.layer.ask('tokens.revoke', { token }, LOCAL_CALLER));
    expect(ended).toMatchObject(CANCELLED);
  });

  test.each([
    ['its API key', (key_id: string) => one.layer.ask('api-keys.revoke', { key_id }, LOCAL_CALLER)],
    ['its agent', () => one.layer.ask('tokens.revoke', { agent_did: AGENT }, LOCAL_CALLER)],
  ])('PRM-01 PIPE-06 a call in another instance ends as cancelled with %s', async (_, revoke) => {
    const { api_key, key } = await one.layer.ask('api-keys.create', { name: 'one', agent_did: AGENT }, LOCAL_CALLER);
    // The second instance learns of the new key within a second.
    while ((await post({ ...two, token: api_key }, '/v1/invocations', '{"tool_id":"none"}')).status === 401)
      await sleep(50);
    expect(await callThat(two, api_key, () => revoke(key.key_id))).toMatchObject(CANCELLED);
  });

  test('PRM-10 PIPE-12 so do calls that run later, by an API key, and those of an agent', async () => {
    const { api_key, key } = await one.layer.ask('api-keys.create', { name: 'one' }, LOCAL_CALLER);
    const later = { tool_id: 'waits', parameters: PARAMETERS, execution_options: { async_mode: true } };
    let accepted: Awaited<ReturnType<typeof post>> | undefined;
    await started(async () => {
      accepted = await post({ ...one, token: api_key }, '/v1/invocations', JSON.stringify(later));
    });
    await one.layer.ask('api-keys.revoke', { key_id: key.key_id }, LOCAL_CALLER);
    for (;;) {
      const { invocation_id } = (accepted?.body ?? {}) as { readonly invocation_id?: string };
      // The call may begin before the answer with its id arrives.
      if (invocation_id === undefined) {
        await sleep(5);
        continue;
      }
      const now = await one.layer.ask('invocations.get', { invocation_id }, LOCAL_CALLER);
      if (now.status === 'cancelled') break;
      expect(now.status).toMatch(/pending|running/);
      await sleep(20);
    }
  });
});

/** Meta of a request of the 2026 era. */
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const HANDSHAKE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } };

/** Sends a request to the second instance over MCP. */
const mcp = (token: string, method: string, body: object | undefined, headers: Record<string, string> = {}) =>
  fetch(`${two.server.url}/mcp`, {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify({ jsonrpc: '2.0', ...body }) }),
  });

async function sessionOf(token: string): Promise<Record<string, string>> {
  const answer = await mcp(token, 'POST', { id: 1, method: 'initialize', params: HANDSHAKE });
  await answer.text();
  return { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '' };
}

const STREAMS: readonly (readonly [string, (token: string) => Promise<Response>])[] = [
  ['the stream of a session', async (token) => mcp(token, 'GET', undefined, await sessionOf(token))],
  [
    'a subscription',
    (token) =>
      mcp(
        token,
        'POST',
        { id: 1, method: 'subscriptions/listen', params: { _meta: META, notifications: { toolsListChanged: true } } },
        { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
      ),
  ],
  [
    'the stream of a call',
    async (token) => {
      const { capability_token: runs } = await two.layer.mintToken({});
      const later = { tool_id: 'waits', parameters: PARAMETERS, execution_options: { async_mode: true } };
      const { body } = await post({ ...two, token: runs }, '/v1/invocations', JSON.stringify(later));
      return fetch(`${two.server.url}/v1/invocations/${body['invocation_id']}/events`, {
        headers: { authorization: `Bearer ${token}` },
      });
    },
  ],
];

describe('what is open under a credential that is revoked at another instance', () => {
  test.each(STREAMS)('PRM-01 API-03 %s ends, and that of another token stays', async (_, open) => {
    const { capability_token: token } = await two.layer.mintToken({});
    const { capability_token: other } = await two.layer.mintToken({});
    const stays = await open(other);
    const ends = await open(token);
    expect([stays.status, ends.status]).toEqual([200, 200]);
    let isOver = false;
    const reading = stays.text().finally(() => {
      isOver = true;
    });
    await one.layer.ask('tokens.revoke', { token }, LOCAL_CALLER);
    // Waits for the end of the stream.
    await ends.text();
    expect(isOver).toBe(false);
    await one.layer.ask('tokens.revoke', { token: other }, LOCAL_CALLER);
    await reading;
  });

  test('PRM-01 API-03 its session takes no answer, no cancellation and no end from it', async () => {
    const { capability_token: token } = await two.layer.mintToken({});
    const session = await sessionOf(token);
    await two.layer.ask('tokens.revoke', { token }, LOCAL_CALLER);
    const statuses = [
      await mcp(token, 'POST', { id: 'asked', result: { action: 'accept' } }, session),
      await mcp(token, 'POST', { method: 'notifications/cancelled', params: { requestId: 1 } }, session),
      await mcp(token, 'DELETE', undefined, session),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 401]);
    // Another token of the same agent can still use the session.
    const { capability_token: next } = await two.layer.mintToken({});
    expect((await mcp(next, 'DELETE', undefined, session)).status).toBe(204);
  });
});

test.skipIf(!works)('SBX-04 a tunnel of a running tool ends with the token of its call', async () => {
  const http = createServer();
  const sockets: import('node:net').Socket[] = [];
  http.on('connection', (socket) => sockets.push(socket));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  await using own = await openLayer({
    'shell.allowed': ['perl'],
  } as never);
  const network = [{ host: '127.0.0.1', port }];
  const client = `use IO::Socket; my $s = IO::Socket::INET->new("127.0.0.1:${port}"); print "x"; sleep 60`;
  await own.layer.ask(
    'tools.register',
    {
      manifest: {
        ...TOOL,
        tool_id: 'tunnel',
        tool_name: 'tunnel',
        permissions: { network },
        executor: { kind: 'shell', config: { command: ['perl', '-e', client] } },
      },
    },
    LOCAL_CALLER,
  );
  const { capability_token: token } = await own.layer.mintToken({ hosts: ['127.0.0.1'], ports: [port] });
  const answer = post(
    { ...own, token },
    '/v1/invocations',
    JSON.stringify({ tool_id: 'tunnel', parameters: PARAMETERS }),
  );
  const connected = await Promise.race([once(http, 'connection').then(() => 'connected'), answer]);
  expect(connected).toBe('connected');
  const closed = once(sockets[0] as (typeof sockets)[number], 'close');
  await own.layer.ask('tokens.revoke', { token }, LOCAL_CALLER);
  await closed;
  expect((await answer).body).toMatchObject({ status: 'cancelled', error: { e_code: 'E3805' } });
  http.close();
});
