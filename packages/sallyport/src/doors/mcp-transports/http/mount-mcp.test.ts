import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manifestOf } from '../../tool-layer.fixture.ts';
import { type McpServer, startMcpServer } from './mcp-http.fixture.ts';

let server: McpServer;

beforeEach(async () => {
  server = await startMcpServer({ messageBytesMax: 4_096, sessionsMax: 2, streamsMax: 1, changesTogetherMs: 1 });
  server.layer.addTool(manifestOf('greet'), () => 'hello');
});

afterEach(() => server.close());

const INITIALIZE = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Sends a request of the 2026 era with its required headers. */
function modern(method: string, params: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  const named: Record<string, string> = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {};
  const standard = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named };
  return server.post(
    { jsonrpc: '2.0', id: 7, method, params: { _meta: META, ...params } },
    { ...standard, ...headers },
  );
}

async function openSession(): Promise<Record<string, string>> {
  const response = await server.post(INITIALIZE);
  await response.body?.cancel();
  return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
}

describe('messages that cannot be read', () => {
  it.each([
    ['broken JSON', '{"jsonrpc":', 400, -32700, /position 11/],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), 400, -32700, /byte 1/],
    ['a batch', '[]', 400, -32600, /[Bb]atches/],
    ['a number', '7', 400, -32600, /object/],
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600, /jsonrpc/],
    ['no method', '{"jsonrpc":"2.0","id":1}', 400, -32600, /method/],
    ['an id of null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600, /id/],
    ['a fraction as id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 400, -32600, /id/],
    ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600, /id/],
    ['params that are a list', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32600, /params/],
    ['a prototype key', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":1}}', 400, -32600, /__proto__/],
    ['2 000 levels', '['.repeat(2_000), 400, -32600, /deeper/],
    ['more bytes than allowed', `"${'x'.repeat(5_000)}"`, 413, -32600, /larger than 4096 bytes/],
  ])('%s is refused with a JSON-RPC error', async (_what, body, status, code, message) => {
    const response = await server.post(body);
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { error: { code: number; message: string } };
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });

  it('another content type is refused with 415, an Accept without events with 406', async () => {
    expect((await server.post('{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await server.post('{}', { accept: 'application/json' })).status).toBe(406);
    expect((await server.post(INITIALIZE, { accept: '*/*' })).status).toBe(200);
  });
});

describe('sessions of the 2025 era', () => {
  it('API-03.1 a handshake answers with the version asked for, or the newest, and a session id', async () => {
    const response = await server.post(INITIALIZE);
    expect(response.headers.get('mcp-session-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await response.json()).toMatchObject({
      result: { protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true } } },
    });
    const odd = await server.post({ ...INITIALIZE, params: { protocolVersion: '1999-01-01' } });
    expect(await odd.json()).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
  });

  it('API-03.1 without a session 400, with one that ended 404', async () => {
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    expect((await server.post(ping)).status).toBe(400);
    const session = await openSession();
    expect(await (await server.post(ping, session)).json()).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
    expect((await fetch(server.url, { method: 'DELETE', headers: session })).status).toBe(401);
    const headers = { ...session, authorization: 'Bearer agent' };
    expect((await fetch(server.url, { method: 'DELETE', headers })).status).toBe(204);
    expect((await server.post(ping, session)).status).toBe(404);
  });

  it('a protocol version that is not spoken is refused', async () => {
    const session = await openSession();
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    expect((await server.post(ping, { ...session, 'mcp-protocol-version': '2025-06-18' })).status).toBe(200);
    expect((await server.post(ping, { ...session, 'mcp-protocol-version': '1999-01-01' })).status).toBe(400);
  });

  it('the session that is idle longest makes room for a new one', async () => {
    const [first, second] = [await openSession(), await openSession()];
    await openSession();
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    expect((await server.post(ping, first)).status).toBe(404);
    expect((await server.post(ping, second)).status).toBe(200);
  });

  it('API-03 no holder ends the session of another: where there is no room for it, its own is refused', async () => {
    const [first, second] = [await openSession(), await openSession()];
    const refused = await server.post(INITIALIZE, { authorization: 'Bearer agent-elsewhere' });
    expect([refused.status, await refused.json()]).toMatchObject([503, { error: { message: /come later/ } }]);
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    for (const session of [first, second]) expect((await server.post(ping, session)).status).toBe(200);
  });

  it('notifications and responses are taken with 202, unknown methods refused', async () => {
    const session = await openSession();
    expect((await server.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session)).status).toBe(202);
    expect((await server.post({ jsonrpc: '2.0', id: 3, result: {} }, session)).status).toBe(202);
    const level = { jsonrpc: '2.0', id: 5, method: 'logging/setLevel', params: { level: 'debug' } };
    expect(await (await server.post(level, session)).json()).toMatchObject({ result: {} });
    const unknown = await server.post({ jsonrpc: '2.0', id: 4, method: 'resources/delete' }, session);
    expect(await unknown.json()).toMatchObject({ id: 4, error: { code: -32601 } });
  });

  it('a call with the wrong members is refused by name', async () => {
    const session = await openSession();
    const call = (params: object) => server.post({ jsonrpc: '2.0', id: 'a', method: 'tools/call', params }, session);
    expect(await (await call({ name: 7 })).json()).toMatchObject({ id: 'a', error: { code: -32602 } });
    expect(await (await call({ name: 'greet', arguments: [] })).json()).toMatchObject({ error: { code: -32602 } });
    const cursor = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: { cursor: 'bm90 hing' } };
    expect(await (await server.post(cursor, session)).json()).toMatchObject({ error: { code: -32602 } });
  });

  it('a session has one GET stream, its newest, and none without a token', async () => {
    // With room for two, no limit ends the first one.
    await server.close();
    server = await startMcpServer({ streamsMax: 2, changesTogetherMs: 1 });
    const session = await openSession();
    const stop = new AbortController();
    const get = (headers: Record<string, string>) =>
      fetch(server.url, { headers: { accept: 'text/event-stream', ...session, ...headers }, signal: stop.signal });
    expect((await get({ accept: 'application/json' })).status).toBe(406);
    expect((await get({})).status).toBe(401);
    const first = await get({ authorization: 'Bearer agent' });
    expect(first.headers.get('content-type')).toBe('text/event-stream');
    // As after a connection that was cut off: nothing here has noticed yet.
    const stream = await get({ authorization: 'Bearer agent' });
    expect([stream.status, await first.text()]).toEqual([200, '']);
    server.layer.addTool(manifestOf('fresh'), () => 'fresh');
    server.layer.notifyToolsChanged();
    const { value } = (await stream.body?.getReader().read()) ?? {};
    expect(Buffer.from(value ?? []).toString()).toContain('"method":"notifications/tools/list_changed"');
    stop.abort();
  });
});

describe('requests of the 2026 era', () => {
  it('API-03.2 server/discover names versions and capabilities, with the hints for caches', async () => {
    expect(await (await modern('server/discover')).json()).toMatchObject({
      id: 7,
      result: {
        resultType: 'complete',
        supportedVersions: expect.arrayContaining(['2026-07-28', '2025-11-25']),
        capabilities: { tools: { listChanged: true } },
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'sallyport' } },
      },
    });
  });

  it('API-03.2 needs no session and gives none', async () => {
    const response = await modern('tools/call', { name: 'greet' });
    expect(response.headers.has('mcp-session-id')).toBe(false);
    expect(await response.json()).toMatchObject({ result: { resultType: 'complete', content: [{ text: 'hello' }] } });
  });

  it.each([
    ['another version than the body', { 'mcp-protocol-version': '2025-11-25' }],
    ['another method than the body', { 'mcp-method': 'tools/list' }],
    ['another name than the body', { 'mcp-name': 'other' }],
  ])('headers with %s are refused', async (_what, headers) => {
    const response = await modern('tools/call', { name: 'greet' }, headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32020 } });
  });

  it('API-03 a body that says another version than its header is a mismatch, also where nobody speaks it', async () => {
    const odd = { ...META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const response = await modern('tools/list', { _meta: odd });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32020 } });
  });

  it('takes a name in Base64', async () => {
    const response = await modern('tools/call', { name: 'greet' }, { 'mcp-name': '=?base64?Z3JlZXQ=?=' });
    expect(response.status).toBe(200);
  });

  it('refuses an unknown version with those it speaks, a missing statement, and an unknown method', async () => {
    const odd = { ...META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const version = await modern('tools/list', { _meta: odd }, { 'mcp-protocol-version': '2099-01-01' });
    expect(version.status).toBe(400);
    expect(await version.json()).toMatchObject({
      error: { code: -32022, data: { requested: '2099-01-01', supported: expect.arrayContaining(['2026-07-28']) } },
    });
    const bare = await modern('tools/list', { _meta: {} });
    expect(bare.status).toBe(400);
    expect(await bare.json()).toMatchObject({ error: { code: -32602 } });
    const method = await modern('ping');
    expect(method.status).toBe(404);
    expect(await method.json()).toMatchObject({ error: { code: -32601 } });
  });

  it('API-03 a subscription is acknowledged first; one more of its holder ends it, one of another holder is refused', async () => {
    const listen = async (authorization: string) => {
      const notifications = { toolsListChanged: true };
      const { status, body } = await modern('subscriptions/listen', { notifications }, { authorization });
      return { status, reader: body?.getReader() };
    };
    const { reader } = await listen('Bearer agent');
    const { value } = (await reader?.read()) ?? {};
    expect(Buffer.from(value ?? []).toString()).toContain('notifications/subscriptions/acknowledged');
    expect((await listen('Bearer agent-elsewhere')).status).toBe(503);
    const second = await listen('Bearer agent');
    expect(second.status).toBe(200);
    let ended = false;
    while (!ended) ended = (await reader?.read())?.done !== false;
    await second.reader?.cancel();
  });
});

describe('tokens', () => {
  it.each([
    ['no token', '', 'Bearer realm="sallyport", '],
    ['an expired token', 'Bearer expired', 'Bearer realm="sallyport", error="invalid_token", '],
  ])('%s is asked for with 401 and a challenge, by every method', async (_what, authorization, challenge) => {
    const METADATA = `${new URL(server.url).origin}/.well-known/oauth-protected-resource/mcp`;
    const headers = { authorization };
    const answers = [
      await server.post(INITIALIZE, headers),
      await modern('server/discover', {}, headers),
      await modern('tools/list', {}, headers),
      await modern('tools/call', { name: 'greet' }, headers),
      await modern('subscriptions/listen', {}, headers),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe(`${challenge}resource_metadata="${METADATA}"`);
      expect(answer.headers.has('mcp-session-id')).toBe(false);
      expect(await answer.json()).toMatchObject({ error: { code: -32001 } });
    }
  });

  it('PRM-01 the tools of one token are not shown to another', async () => {
    await modern('tools/list');
    const listings = () => server.layer.asked.filter(({ operation }) => operation === 'tools.manifests').length;
    const asked = listings();
    await modern('tools/list');
    expect(listings()).toBe(asked);
    // The list of tools is cached, but the token is checked each time.
    server.layer.answers.set('tokens.inspect', () => Promise.reject(new ToolLayerError('E3208', 'It was revoked.')));
    expect((await modern('tools/list')).status).toBe(401);
    server.layer.answers.delete('tokens.inspect');
    await modern('tools/list', {}, { authorization: 'Bearer operator' });
    expect(server.layer.asked.findLast(({ operation }) => operation === 'tools.manifests')).toMatchObject({
      operation: 'tools.manifests',
      caller: { token: 'operator' },
    });
  });
});
