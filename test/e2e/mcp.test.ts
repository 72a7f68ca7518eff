import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import { DOUBLE, double, type OpenLayer, openLayer, post } from './layer.fixture.ts';

let open: OpenLayer;
const clients: Client[] = [];

beforeAll(async () => {
  open = await openLayer({ 'server.allowed_origins': ['https://console.example'] });
  await open.layer.registerFunction(DOUBLE, double);
  await open.layer.registerFunction({ ...DOUBLE, tool_id: 'guarded', requires_confirmation: true }, double);
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => open[Symbol.asyncDispose]());

const AGENT = 'did:example:a';
const ENABLED = 'sallyport://tools/agent/did%3Aexample%3Aa/enabled';
const UNAVAILABLE = 'sallyport://tools/agent/did%3Aexample%3Aa/unavailable';

type Claims = Parameters<OpenLayer['layer']['mintToken']>[0];

async function connect(path: string, auto: boolean, claims: Claims = {}): Promise<Client> {
  const minted = await open.layer.mintToken({ agent_did: AGENT, ...claims });
  const requestInit = { headers: { Authorization: `Bearer ${minted.capability_token}` } };
  const negotiation = auto ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name: 'mcp', version: '1.0.0' }, negotiation);
  clients.push(client);
  await client.connect(new StreamableHTTPClientTransport(new URL(`${open.server.url}${path}`), { requestInit }));
  return client;
}

async function read(client: Client, uri: string): Promise<Record<string, unknown>> {
  const [content] = (await client.readResource({ uri })).contents;
  return JSON.parse(content !== undefined && 'text' in content ? content.text : '');
}

describe.each([
  { era: '2025-11-25', auto: false },
  { era: '2026-07-28', auto: true },
])('a whole layer over MCP $era', ({ era, auto }) => {
  test('VIS-07.2 VIS-07.3 VIS-07.6 API-03.6 an agent reads what it may use and why not the rest, and nothing of others', async () => {
    const client = await connect('/mcp/discovery', auto, { tool_id: 'dou*' });
    expect(client.getNegotiatedProtocolVersion()).toBe(era);
    expect(await read(client, ENABLED)).toMatchObject({ tools: [{ name: 'double' }], total_count: 1 });
    expect(await read(client, UNAVAILABLE)).toMatchObject({
      tools: [{ name: 'guarded', requires_confirmation: true, why_unavailable: { code: 'not_in_token' } }],
    });
    expect(await read(client, 'sallyport://tools/tenant/default/available')).toMatchObject({ total_count: 2 });
    expect(await read(client, 'sallyport://tools/tool/double')).toMatchObject({ manifest: { tool_id: 'double' } });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('sallyport://tools/tool/double');
    for (const uri of [
      'sallyport://tools/tool/guarded',
      'sallyport://tools/tenant/another/available',
      'sallyport://tools/agent/did%3Aexample%3Ab/enabled',
    ]) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602, data: { uri } });
    }
    const elsewhere = await connect('/mcp/discovery', auto, { tenant_id: 'another' });
    expect(await read(elsewhere, ENABLED)).toMatchObject({ tools: [], total_count: 0 });
    const viewer = await connect('/mcp/discovery', auto, { roles: ['viewer'], agent_did: 'did:example:viewer' });
    expect(await read(viewer, ENABLED)).toMatchObject({ total_count: 2 });
  });

  test('VIS-07.3 VIS-07.5 a tool that is disabled for the agent is told, with the reason', async () => {
    const client = await connect('/mcp/discovery', auto);
    expect(await read(client, UNAVAILABLE)).toMatchObject({ tools: [] });
    const told = Promise.withResolvers<string>();
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => told.resolve(params.uri));
    if (auto) await client.listen({ resourceSubscriptions: [UNAVAILABLE] });
    else await client.subscribeResource({ uri: UNAVAILABLE });
    const activation = { agent_did: AGENT, tool_id: 'guarded' };
    await open.layer.ask('activations.set', { ...activation, enabled: false, reason: 'Not yet.' }, LOCAL_CALLER);
    expect(await told.promise).toBe(UNAVAILABLE);
    expect(await read(client, UNAVAILABLE)).toMatchObject({
      tools: [{ name: 'guarded', why_unavailable: { code: 'disabled_for_agent' } }],
    });
    await open.layer.ask('activations.remove', activation, LOCAL_CALLER);
  });

  test('MOD-11.1 MOD-11.6 a tool is found, described and called, and the record names the inner tool', async () => {
    const client = await connect('/mcp?tools=meta', auto);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['find_tools', 'describe_tool', 'call_tool']);
    const found = await client.callTool({ name: 'find_tools', arguments: { query: 'doubles a number' } });
    expect(found.structuredContent).toMatchObject({
      tools: expect.arrayContaining([
        { name: 'double', description: 'Doubles a number.', side_effect: 'pure', needs_confirmation: false },
      ]),
    });
    const described = await client.callTool({ name: 'describe_tool', arguments: { name: 'guarded' } });
    expect(described.structuredContent).toMatchObject({
      input_schema: { required: ['n'] },
      needs_confirmation: true,
    });
    const call = { name: 'double', arguments: { n: 21 }, version: '^1.0.0' };
    const called = await client.callTool({ name: 'call_tool', arguments: call });
    expect(called.structuredContent).toEqual({ value: 42 });
    const invocation_id = String(called._meta?.['invocation_id']);
    const { events } = await open.layer.ask('audit.query', { invocation_id }, LOCAL_CALLER);
    expect(events.at(-1)).toMatchObject({ type: 'ai.agent.tool.succeeded', subject: invocation_id });
    expect(JSON.stringify(events)).toContain('"double"');
    expect(JSON.stringify(events)).not.toContain('call_tool');
  });

  test("MOD-11 API-03.7 the token's bounds apply to the inner tool", async () => {
    const client = await connect('/mcp?tools=meta', auto, { tool_id: 'dou*' });
    const found = await client.callTool({ name: 'find_tools', arguments: { query: 'doubles a number' } });
    expect(JSON.stringify(found.structuredContent)).not.toContain('guarded');
    for (const [outer, given, e_code] of [
      ['describe_tool', { name: 'guarded' }, 'E3001'],
      ['call_tool', { name: 'guarded', arguments: { n: 1 } }, 'E3209'],
      ['call_tool', { name: 'call_tool', arguments: { name: 'double' } }, 'E3209'],
    ] as const) {
      const refused = await client.callTool({ name: outer, arguments: given });
      expect(refused).toMatchObject({ isError: true, _meta: { error: { e_code } } });
    }
    const wrong = await client.callTool({ name: 'call_tool', arguments: { name: 'double', arguments: { n: 'x' } } });
    expect(wrong.isError).toBe(true);
    expect(JSON.stringify(wrong.content)).toContain('/n');
  });
});

test('MOD-11.3 MOD-11.4 MOD-11.5 policies, limits and approvals hold for the inner tool of call_tool', async () => {
  const { layer, folder } = open;
  const paced = { ...DOUBLE, tool_id: 'paced', execution_config: { rate_limit: { per_minute: 1, burst: 1 } } };
  await layer.registerFunction(paced, double);
  await layer.registerFunction({ ...DOUBLE, tool_id: 'forbidden' }, double);
  await writeFile(
    join(folder, 'policies', 'own.cedar'),
    '@id("closed")\nforbid (principal, action, resource) when { resource.id == "forbidden" };',
  );
  await layer.ask('policies.reload', {}, LOCAL_CALLER);
  const client = await connect('/mcp?tools=meta', true);
  const call = (name: string) => client.callTool({ name: 'call_tool', arguments: { name, arguments: { n: 1 } } });
  expect(await call('forbidden')).toMatchObject({ isError: true, _meta: { error: { e_code: 'E3210' } } });
  expect((await call('paced')).structuredContent).toEqual({ value: 2 });
  expect(await call('paced')).toMatchObject({ isError: true, _meta: { error: { e_code: 'E3303' } } });
  expect(await call('guarded')).toMatchObject({ isError: true, _meta: { status: 'pending_approval' } });
});

test('API-03 pages of an origin that the operator allows may ask every door; of another one the refusal names the setting', async () => {
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const call = JSON.stringify({ tool_id: 'double', parameters: { n: 1 } });
  for (const [path, body] of [
    ['/mcp', ping],
    ['/mcp/discovery', ping],
    ['/v1/invocations', call],
  ] as const) {
    const ask = (origin: string) => post(open, path, body, { accept: 'application/json, text/event-stream', origin });
    const foreign = await ask('https://evil.example');
    expect(foreign.status).toBe(403);
    expect(JSON.stringify(foreign.body)).toContain('server.allowed_origins');
    expect((await ask('https://console.example')).status).not.toBe(403);
  }
});

const PATHS = ['/mcp', '/mcp/discovery', '/v1/invocations', '/v1/tools', '/healthz', '/nowhere'];

test('API-03 a page of an allowed origin may ask beforehand, send what MCP needs and read the answer; another page may not', async () => {
  const ask = async (path: string, method: string, headers: Record<string, string>) => {
    const response = await fetch(open.server.url + path, { method, headers });
    await response.arrayBuffer();
    return response;
  };
  const wanted =
    'authorization, content-type, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, mcp-param-city';
  const before = { 'access-control-request-method': 'POST', 'access-control-request-headers': wanted };
  const told = ({ headers }: Response) => [...headers.keys()].filter((name) => name.startsWith('access-control-'));
  for (const path of PATHS) {
    const origin = 'https://console.example';
    const asked = await ask(path, 'OPTIONS', { origin, ...before });
    expect([asked.status, asked.headers.get('access-control-allow-origin'), asked.headers.get('vary')]).toEqual([
      204,
      origin,
      'Origin',
    ]);
    expect(asked.headers.get('access-control-allow-methods')).toContain('DELETE');
    const allowed = asked.headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
    expect(allowed).toEqual(expect.arrayContaining([...wanted.split(', '), 'last-event-id', 'traceparent']));
    expect(asked.headers.has('access-control-allow-credentials')).toBe(false);

    const answer = await ask(path, 'GET', { origin });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-expose-headers')).toContain('Mcp-Session-Id');
    expect(answer.headers.get('vary')).toBe('Origin');
    expect(told(await ask(path, 'GET', { origin: open.server.url }))).toEqual([]);
    // Without an Origin header the answer still names Origin in Vary, because caches may give it to web pages too.
    expect([(await ask(path, 'GET', {})).headers.get('vary'), told(await ask(path, 'GET', {}))]).toEqual([
      'Origin',
      [],
    ]);

    for (const foreign of ['https://evil.example', 'https://console.example.evil.example', 'null']) {
      const refused = await ask(path, 'OPTIONS', { origin: foreign, ...before });
      expect([refused.status, told(refused)]).toEqual([403, []]);
      const unread = await ask(path, 'GET', { origin: foreign });
      expect([unread.status, told(unread)]).toEqual([403, []]);
    }
  }
});

test('API-03 the answers of calls and sessions, which go without the framework, can be read by that page too', async () => {
  const headers = { origin: 'https://console.example', authorization: `Bearer ${open.token}` };
  const call = await fetch(`${open.server.url}/v1/invocations`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ tool_id: 'double', parameters: { n: 4 } }),
  });
  expect([call.status, call.headers.get('access-control-allow-origin')]).toEqual([200, headers.origin]);
  const seen: (string | null)[] = [];
  const client = new Client({ name: 'page', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${open.server.url}/mcp`), {
    requestInit: { headers },
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      seen.push(response.headers.get('access-control-allow-origin'));
      return response;
    },
  });
  await client.connect(transport);
  expect(JSON.stringify(await client.callTool({ name: 'double', arguments: { n: 4 } }))).toContain('8');
  await client.close();
  expect(new Set(seen)).toEqual(new Set([headers.origin]));
});

test('API-03 a layer that allows no origin says nothing of origins', async () => {
  await using closed = await openLayer();
  const { headers } = await fetch(`${closed.server.url}/healthz`);
  expect([headers.get('vary'), headers.get('access-control-allow-origin')]).toEqual([null, null]);
});

test.each(['/mcp', '/mcp/discovery', '/v1/tools'])(
  'API-03 200 headers are read at %s, one more is refused before anything of the request is',
  async (path) => {
    const ask = async (count: number): Promise<number> => {
      // Host, connection and what fetch itself adds are counted too.
      const own = Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, '']));
      const url = new URL(path, open.server.url);
      const request = get(url, { headers: { ...own, host: url.host, connection: 'close' } });
      const [answer] = (await once(request, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode ?? 0;
    };
    expect(await ask(198)).not.toBe(431);
    expect(await ask(199)).toBe(431);
  },
);

test('VIS-08.2 a tool of a kind that there is none of is refused when it is registered', async () => {
  const { capability_token: token } = await open.layer.mintToken({ roles: ['operator'] });
  const register = (kind: string) => {
    const manifest = { ...DOUBLE, tool_id: 'mail', executor: { kind } };
    return post({ ...open, token }, '/v1/tools', JSON.stringify({ manifest }));
  };
  const unknown = await register('quantum');
  expect([unknown.status, unknown.body['e_code']]).toEqual([400, 'E3008']);
  expect(unknown.body['details']).toMatchObject({ faults: [{ path: '/executor/kind' }] });
});
