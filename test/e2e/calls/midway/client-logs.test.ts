import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { KiB } from '@sallyport/std/bytes';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import { type Desk, openDesk, toolOf } from '../desk.fixture.ts';

type Json = Readonly<Record<string, unknown>>;

const SERVER = fileURLToPath(
  new URL('../../../../packages/sallyport/src/mcp-servers/test-servers/asking-server.mjs', import.meta.url),
);
const MESSAGES = {
  messages: [
    { level: 'debug', data: 'small' },
    { level: 'info', logger: 'db', data: { at: 1 } },
    { level: 'error', data: 'big' },
    { level: 'loud', data: 'no level' },
  ],
};

let desk: Desk;
const clients: Client[] = [];

beforeAll(async () => {
  desk = await openDesk();
  for (const [name, version] of [
    ['older', '2025-11-25'],
    ['newer', '2026-07-28'],
  ] as const) {
    const transport = { type: 'stdio' as const, command: 'node', args: [SERVER, version] };
    await desk.layer.ask('upstreams.add', { upstream: { name, transport } }, LOCAL_CALLER);
  }
  await desk.layer.registerFunction(toolOf('chatty', {}), ({ n }, { client }) => {
    for (let at = 0; at < Number(n); at += 1) client.log('warning', { at, password: 'correct horse' });
    client.log('info', 'x'.repeat(20_000));
    return {};
  });
}, 60_000);
afterAll(async () => {
  for (const client of clients) await client.close();
  await desk[Symbol.asyncDispose]();
});

/** A client in a session, and the log messages that it got. */
async function clientOf(name: string) {
  const logs: { level: string; data: unknown; logger?: string | undefined }[] = [];
  const client = new Client({ name, version: '1.0.0' });
  client.setNotificationHandler('notifications/message', ({ params }) => void logs.push(params));
  clients.push(client);
  const token = await desk.token({ agent_did: `did:agent:${name}`, user_did: `did:user:${name}` });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${desk.server.url}/mcp`), { requestInit }));
  return { client, logs };
}

const levels = (logs: readonly { level: string }[]) => logs.map(({ level }) => level);

test.each(['older', 'newer'])(
  'EXE-07.14 log messages of a server of the %s protocol reach the session whose call they belong to, from its level on',
  async (server) => {
    const [ada, bob] = [await clientOf('ada'), await clientOf('bob')];
    await ada.client.callTool({ name: `${server}__log`, arguments: MESSAGES });
    expect(levels(ada.logs)).toEqual(['info', 'error']);
    expect(ada.logs[0]).toEqual({ level: 'info', logger: 'db', data: { at: 1 } });
    await ada.client.setLoggingLevel('error');
    await ada.client.callTool({ name: `${server}__log`, arguments: MESSAGES });
    expect(levels(ada.logs)).toEqual(['info', 'error', 'error']);
    await bob.client.setLoggingLevel('debug');
    const { content } = await bob.client.callTool({ name: `${server}__log`, arguments: MESSAGES });
    expect(levels(bob.logs)).toEqual(['debug', 'info', 'error']);
    // The server is told the lowest level that a client of its connection states.
    expect(JSON.stringify(content)).toContain('debug');
    expect(ada.logs).toHaveLength(3);
  },
);

test('EXE-07.14 while calls of two users share the connection of a server, neither gets its log messages', async () => {
  const [ada, bob] = [await clientOf('ada'), await clientOf('bob')];
  const stop = new AbortController();
  const held = ada.client
    .callTool({ name: 'older__hold', arguments: {} }, { signal: stop.signal })
    .catch(() => undefined);
  const executing = async () => {
    const { events } = await desk.layer.ask(
      'audit.query',
      { tool_id: 'older__hold', newest: true, limit: 1 },
      LOCAL_CALLER,
    );
    return events.at(-1)?.data['state'] === 'EXECUTING';
  };
  await expect.poll(executing).toBe(true);
  await bob.client.callTool({ name: 'older__log', arguments: MESSAGES });
  expect([...ada.logs, ...bob.logs]).toEqual([]);
  stop.abort();
  await held;
});

test('API-03 a level that is none is refused, in a session and in a request', async () => {
  const { client } = await clientOf('ada');
  await expect(client.setLoggingLevel('loud' as 'info')).rejects.toThrow(/level/);
  const token = await desk.token();
  expect(await modern(token, 'chatty', { n: 1 }, 'loud')).toMatchObject([{ error: { code: -32602 } }]);
});

test('API-03 a request of 2026-07-28 gets the log messages from the level that it states, and none without', async () => {
  const token = await desk.token();
  const of = (messages: readonly Json[]) => messages.filter(({ method }) => method === 'notifications/message');
  expect(of(await modern(token, 'newer__log', MESSAGES))).toEqual([]);
  expect(of(await modern(token, 'newer__log', MESSAGES, 'error'))).toMatchObject([
    { params: { level: 'error', data: 'big' } },
  ]);
});

test('EXE-07.14 a function sends log messages too, bounded in number and size and without secrets', async () => {
  const token = await desk.token();
  const all = await modern(token, 'chatty', { n: 100 }, 'info');
  const logs = all.filter(({ method }) => method === 'notifications/message');
  expect(logs).toHaveLength(100);
  expect(logs.filter((log) => JSON.stringify(log).includes('correct horse'))).toEqual([]);
  const [last] = (await modern(token, 'chatty', { n: 0 }, 'info')) as { params: { data: string } }[];
  expect(last?.params.data.length).toBe(16 * KiB + 1);
});

/** Calls a tool as a client of 2026-07-28 does. @returns every message of the answer */
async function modern(token: string, name: string, given: Json, logLevel?: string): Promise<readonly Json[]> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    ...(logLevel === undefined ? {} : { 'io.modelcontextprotocol/logLevel': logLevel }),
  };
  const response = await fetch(`${desk.server.url}/mcp`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given, _meta } }),
  });
  const body = await response.text();
  if (!body.startsWith('event:')) return [JSON.parse(body) as Json];
  return [...body.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(String(data)) as Json);
}
