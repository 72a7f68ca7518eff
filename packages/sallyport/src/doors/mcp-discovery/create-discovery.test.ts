import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DiscoveryServer, startDiscovery } from './discovery.fixture.ts';
import { type Body, type Wire, wireTo } from './discovery-wire.fixture.ts';

let server: DiscoveryServer;
let wire: Wire;

beforeEach(async () => {
  server = await startDiscovery();
  wire = wireTo(server);
});

afterEach(() => server.close());

const AVAILABLE = 'sallyport://tools/tenant/acme/available';
const MAIL = 'sallyport://tools/tool/mail';

const read = async (session: Record<string, string>, uri: unknown): Promise<Body> =>
  wire.ask(session, 'resources/read', { uri });

describe('read only', () => {
  it.each(['tools/call', 'tools/list', 'prompts/list', 'logging/setLevel', 'resources/write'])(
    'VIS-07.1 API-03.6 there is no method %s, in either era',
    async (method) => {
      const session = await wire.openSession();
      expect(await wire.ask(session, method, { name: 'mail' })).toMatchObject({ error: { code: -32601 } });
      const response = await wire.modern(method, { name: 'mail' }, { 'mcp-name': 'mail' });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: -32601 } });
      expect(server.layer.asked.map(({ operation }) => operation)).not.toContain('tools.invoke');
    },
  );

  it('single resources are subscribed to in sessions only', async () => {
    expect((await wire.modern('resources/subscribe', { uri: MAIL })).status).toBe(404);
  });

  it('answers of the 2026 era may not be kept', async () => {
    for (const [method, params] of [
      ['server/discover', {}],
      ['resources/list', {}],
      ['resources/templates/list', {}],
      ['resources/read', { uri: AVAILABLE }],
    ] as const) {
      const { result } = (await (await wire.modern(method, params)).json()) as Body;
      expect(result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
    }
  });
});

describe('tokens', () => {
  it.each(['', 'Bearer expired', 'Bearer forged'])(
    '"%s" is asked for again with 401 by every method',
    async (token) => {
      const headers = { authorization: token };
      const initialize = { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
      server.layer.answers.delete('visibility.list');
      for (const response of [
        await server.post(initialize, headers),
        await wire.modern('server/discover', {}, headers),
        await wire.modern('resources/list', {}, headers),
        await wire.modern('resources/templates/list', {}, headers),
        await wire.modern('resources/read', { uri: AVAILABLE }, headers),
        await wire.modern('resources/read', { uri: 'sallyport://nothing' }, headers),
        await wire.modern('subscriptions/listen', { notifications: { resourcesListChanged: true } }, headers),
      ]) {
        expect(response.status).toBe(401);
        expect(response.headers.has('mcp-session-id')).toBe(false);
        await response.body?.cancel();
      }
    },
  );

  it('VIS-07 a session answers nobody but its holder, as if it were not there', async () => {
    const session = await wire.openSession();
    expect(await read(session, AVAILABLE)).toHaveProperty('result');
    const elsewhere = { ...session, authorization: 'Bearer agent-elsewhere' };
    const unknown = { ...elsewhere, 'mcp-session-id': 'no-such-session' };
    expect(await read(elsewhere, AVAILABLE)).toEqual(await read(unknown, AVAILABLE));
    expect(await read(elsewhere, AVAILABLE)).toMatchObject({
      error: { message: 'This session has ended. Send initialize.' },
    });
    expect(await read(session, AVAILABLE)).toHaveProperty('result');
  });
});

describe('what names nothing', () => {
  it.each([
    ['an unknown template', 'sallyport://tools/user/a/enabled'],
    ['dots', 'sallyport://tools/tenant/globex/../acme/available'],
    ['encoded dots and slashes', 'sallyport://tools/tenant/globex%2f..%2facme/available'],
    ['percent code taken off twice', 'sallyport://tools/tenant/%2561cme/available'],
    ['a half percent code', 'sallyport://tools/tenant/acme%/available'],
    ['a page beyond the last', `${AVAILABLE}?page=9999999`],
    ['a tool id that none can have', 'sallyport://tools/tool/%2e%2e%2f'],
    ['a DID longer than any', `sallyport://tools/agent/${'a'.repeat(300)}/enabled`],
    ['another scheme', 'file:///etc/passwd'],
    ['an empty text', ''],
  ])('%s is answered as not found in both eras', async (_what, uri) => {
    const session = await wire.openSession();
    const error = { message: 'There is no such resource.', data: { uri } };
    expect(await read(session, uri)).toMatchObject({ error: { code: -32002, ...error } });
    expect(await wire.ask(session, 'resources/subscribe', { uri })).toMatchObject({
      error: { code: -32002, ...error },
    });
    expect(await (await wire.modern('resources/read', { uri })).json()).toMatchObject({
      error: { code: -32602, ...error },
    });
  });

  it('100 000 characters are not found, and not sent back whole', async () => {
    const { error } = await read(await wire.openSession(), `sallyport://tools/tool/${'a'.repeat(100_000)}`);
    expect(error?.code).toBe(-32002);
    expect(JSON.stringify(error).length).toBeLessThan(4_000);
  });

  it.each([undefined, null, 7, {}, [AVAILABLE]])('a URI that is %j is a wrong parameter', async (uri) => {
    const session = await wire.openSession();
    for (const method of ['resources/read', 'resources/subscribe', 'resources/unsubscribe']) {
      expect(await wire.ask(session, method, { uri })).toMatchObject({
        error: { code: -32602, message: expect.stringContaining('uri') },
      });
    }
  });

  it.each(['', 'page-0', 'page--1', 'page-1.5', 'page-99999999', 'x', 7])(
    'the cursor %j is refused',
    async (cursor) => {
      expect(await wire.ask(await wire.openSession(), 'resources/list', { cursor })).toMatchObject({
        error: { code: -32602 },
      });
    },
  );

  it.each([
    {},
    { ref: 'x', argument: 'y' },
    { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'tool_id', value: '' } },
    { ref: { type: 'ref/resource', uri: AVAILABLE }, argument: { name: 'tool_id', value: '' } },
    {
      ref: { type: 'ref/resource', uri: 'sallyport://tools/tool/{tool_id}{?version}' },
      argument: { name: 7, value: '' },
    },
  ])('the completion of %j is refused', async (params) => {
    expect(await wire.ask(await wire.openSession(), 'completion/complete', params)).toMatchObject({
      error: { code: -32602 },
    });
  });
});
