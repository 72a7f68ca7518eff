import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { KiB } from '@sallyport/std/bytes';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manifestOf } from '../../tool-layer.fixture.ts';
import { type McpServer, startMcpServer } from './mcp-http.fixture.ts';

type Json = Record<string, unknown>;
type Headers = Record<string, string>;

/** Every status that a message may get, whatever it is. */
const STATUSES = new Set([200, 202, 400, 401, 404, 413]);
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const MODERN = { 'mcp-protocol-version': '2026-07-28' };

let server: McpServer;
let session: Headers;
beforeEach(async () => {
  server = await startMcpServer({ messageBytesMax: 64 * KiB });
  server.layer.addTool(manifestOf('greet'), () => 'hello');
  session = await openSession();
});
afterEach(async () => {
  // Whatever a client did, the door answers the next one.
  expect(await (await send('ping', {}, session)).json()).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
  await server.close();
});

async function openSession(capabilities: Json = {}): Promise<Headers> {
  const params = { protocolVersion: '2025-11-25', capabilities };
  const response = await server.post({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  await response.body?.cancel();
  return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
}

const send = (method: string, params: Json, headers: Headers, id: unknown = 7): Promise<Response> =>
  server.post({ jsonrpc: '2.0', id, method, params }, headers);
const errorOf = async (response: Response): Promise<unknown[]> => {
  const { error } = (await response.json()) as { error?: { code: number } };
  return [response.status, error?.code];
};

describe('any message', () => {
  const method = fc.oneof(
    fc.constantFrom('tools/call', 'tools/list', 'initialize', 'ping', 'server/discover', 'logging/setLevel'),
    fc.constantFrom('notifications/cancelled', 'notifications/initialized', 'subscriptions/listen\u0000', '__proto__'),
    fc.string({ maxLength: 50 }),
  );
  const odd = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown>;
  const params = fc.oneof(
    odd,
    fc.record(
      {
        name: fc.oneof(fc.constant('greet'), odd),
        arguments: odd,
        cursor: odd,
        level: odd,
        requestId: odd,
        inputResponses: odd,
        requestState: fc.oneof(fc.constant('question.x'), odd),
        _meta: fc.oneof(fc.constant(META), odd),
      },
      { requiredKeys: [] },
    ),
  );
  const id = fc.oneof(fc.integer(), fc.double(), fc.string(), odd, fc.constant('x'.repeat(5_000)));
  const message = fc.oneof(
    odd,
    fc.record(
      {
        jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant<unknown>('2.0') }, odd),
        id,
        method,
        params,
        result: odd,
        error: odd,
      },
      { requiredKeys: ['jsonrpc'] },
    ),
    fc.array(fc.record({ jsonrpc: fc.constant('2.0'), id, method }), { maxLength: 3 }),
  );

  it.each([
    ['in no session', () => ({})],
    ['in a session', () => session],
    ['of the 2026 era', () => MODERN],
  ])('API-03 %s gets an answer of JSON-RPC or none, and never a fault of the door', async (_where, headers) => {
    await fc.assert(
      fc.asyncProperty(message, async (sent) => {
        const response = await server.post(JSON.stringify(sent), headers());
        expect(STATUSES).toContain(response.status);
        const text = await response.text();
        if (text === '' || text.startsWith('event:')) return;
        const answer = JSON.parse(text) as { jsonrpc: string; error?: { code: unknown } };
        expect(answer.jsonrpc).toBe('2.0');
        if (response.status !== 200) expect(answer.error?.code).toEqual(expect.any(Number));
        expect(answer.error?.code).not.toBe(-32603);
      }),
      { numRuns: 150 },
    );
  });
});

describe('ids', () => {
  it('API-03 a request whose id another one of the session has is refused, and the first is answered', async () => {
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<string>();
    server.layer.addTool(manifestOf('slow'), () => {
      begun.resolve();
      return end.promise;
    });
    const first = send('tools/call', { name: 'slow' }, session, 'same');
    await begun.promise;
    expect(await errorOf(await send('tools/call', { name: 'greet' }, session, 'same'))).toEqual([400, -32600]);
    const other = await openSession();
    expect((await send('tools/call', { name: 'greet' }, other, 'same')).status).toBe(200);
    end.resolve('late');
    expect(await (await first).text()).toContain('late');
    expect((await send('tools/call', { name: 'greet' }, session, 'same')).status).toBe(200);
  });

  it('API-03 an id of 1 024 characters is answered, a longer one is refused without being repeated', async () => {
    expect((await send('ping', {}, session, 'x'.repeat(1_024))).status).toBe(200);
    const response = await send('ping', {}, session, 'x'.repeat(1_025));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32600 } });
  });
});

describe('requests of the other era', () => {
  it.each<[string, string, Json, () => Headers, unknown[]]>([
    [
      'a handshake that states 2026-07-28',
      'initialize',
      { _meta: META },
      () => ({ ...MODERN, 'mcp-method': 'initialize' }),
      [404, -32601],
    ],
    [
      'a log level for all of 2026-07-28',
      'logging/setLevel',
      { level: 'info', _meta: META },
      () => ({ ...MODERN, 'mcp-method': 'logging/setLevel' }),
      [404, -32601],
    ],
    ['a discovery in a session', 'server/discover', {}, () => session, [400, -32602]],
    ['a call without session and version', 'tools/call', { name: 'greet' }, () => ({}), [400, -32600]],
    ['a session of a version without sessions', 'tools/list', {}, () => ({ ...session, ...MODERN }), [400, -32602]],
    ['a batch in a session of 2025-03-26', 'ping', {}, () => session, [400, -32600]],
  ])('API-03 %s is refused', async (what, method, params, headers, refused) => {
    const message = { jsonrpc: '2.0', id: 7, method, params };
    const response = await server.post(what.startsWith('a batch') ? [message] : message, headers());
    expect(await errorOf(response)).toEqual(refused);
  });
});

describe('answers to questions that a client was not asked', () => {
  const asking = async (own: Headers) => {
    const signal = Promise.withResolvers<AbortSignal>();
    server.layer.addTool(manifestOf('hold'), async (_given, caller) => {
      signal.resolve(caller.signal as AbortSignal);
      await once(caller.signal as AbortSignal, 'abort');
    });
    const leave = new AbortController();
    const held = fetch(server.url, {
      method: 'POST',
      signal: leave.signal,
      headers: { 'content-type': 'application/json', accept: '*/*', authorization: 'Bearer agent', ...own },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hold' } }),
    });
    held.catch(() => undefined);
    await signal.promise;
    return leave;
  };

  it.each([
    ['an invented id', 'ask-00000000-0000-4000-8000-000000000000'],
    ['the id of a request of its own', 1],
  ])('API-03 %s changes nothing', async (_what, id) => {
    const leave = await asking(session);
    for (const body of [{ result: { action: 'accept' } }, { error: { code: 1, message: 'x' } }])
      expect((await server.post({ jsonrpc: '2.0', id, ...body }, session)).status).toBe(202);
    leave.abort();
  });
});

describe('connections', () => {
  const head = (length: number): string =>
    `POST /mcp HTTP/1.1\r\nhost: ${new URL(server.url).host}\r\nauthorization: Bearer agent\r\n` +
    `accept: */*\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n`;
  const open = async (): Promise<Socket> => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };

  it('API-03 that end within a message leave no room taken and no session', async () => {
    const begun = await Promise.all(Array.from({ length: 50 }, open));
    for (const socket of begun) socket.write(`${head(60_000)}\r\n{"jsonrpc":`);
    for (const socket of begun) socket.destroy();
    const whole = await send('tools/list', { pad: 'x'.repeat(60_000) }, session);
    expect(whole.status).toBe(200);
  });

  it('API-03 of a client that does not read hold back nothing: what it does not take is dropped', async () => {
    let sent = 0;
    const done = Promise.withResolvers<void>();
    server.layer.addTool(manifestOf('flood'), async (_given, { onProgress }) => {
      for (sent = 1; sent <= 20_000; sent += 1) onProgress?.({ progress: sent, message: 'x'.repeat(500) });
      done.resolve();
      return 'flooded';
    });
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'flood', _meta: { progressToken: 1 } },
    });
    const socket = await open();
    socket.pause();
    socket.write(`${head(body.length)}mcp-session-id: ${session['mcp-session-id']}\r\n\r\n${body}`);
    await done.promise;
    expect(sent).toBe(20_001);
    socket.destroy();
  });
});
