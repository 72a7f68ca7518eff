import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALGORITHMS } from '../../../packages/sallyport/src/identity/keys/algorithms.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from '../layer.fixture.ts';

const ISSUER = 'https://id.example';
const PUBLIC = 'https://tools.example';
const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const ROUTES = ['/v1/tools', '/mcp', '/mcp/discovery'];
const SERVER = '/mcp/servers/notes';

let plain: OpenLayer;
let known: OpenLayer;
beforeAll(async () => {
  plain = await openLayer();
  await plain.layer.registerFunction(DOUBLE, double);
  known = await openLayer({
    'oauth.issuer': ISSUER,
    'oauth.jwks_url': 'http://127.0.0.1:1/jwks',
    'server.public_url': `${PUBLIC}/`,
  });
});
afterAll(async () => {
  await plain[Symbol.asyncDispose]();
  await known[Symbol.asyncDispose]();
});

const get = async ({ server }: OpenLayer, path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(server.url + path, { headers });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
};
/** Sends each door a request that the door can parse; tests use only its headers. */
const ask = ({ server }: OpenLayer, path: string, headers: Record<string, string> = {}) => {
  if (path.startsWith('/v1')) return fetch(server.url + path, { headers });
  const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return fetch(server.url + path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(message) });
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('metadata for OAuth clients', () => {
  test.each(['', '/mcp', '/mcp/discovery', SERVER])(
    'PRM-11.1 the resource "%s" says where its tokens come from',
    async (path) => {
      const { status, headers, body } = await get(known, WELL_KNOWN + path);
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(body).toEqual({
        resource: PUBLIC + path,
        authorization_servers: [ISSUER],
        scopes_supported: [
          'tools:call',
          'sallyport:viewer',
          'sallyport:operator',
          'sallyport:approver',
          'sallyport:admin',
        ],
        bearer_methods_supported: ['header'],
        dpop_signing_alg_values_supported: Object.keys(ALGORITHMS),
        jwks_uri: `${PUBLIC}/.well-known/jwks.json`,
        resource_name: 'Sallyport',
      });
    },
  );

  test('without a public address it is the one that was asked, without an authorization server there is none', async () => {
    const { body } = await get(plain, `${WELL_KNOWN}/mcp`);
    expect(body).toMatchObject({ resource: `${plain.server.url}/mcp` });
    expect(body).not.toHaveProperty('authorization_servers');
    expect((await get(plain, new URL(body.jwks_uri).pathname)).body.keys).toMatchObject([{ kty: 'RSA' }]);
    for (const path of [
      '/elsewhere',
      '/mcp/servers',
      '/mcp/servers/',
      '/mcp/servers/no_name',
      `${SERVER}/more`,
      '/mcp/servers/%6eotes',
    ])
      expect([path, (await get(plain, WELL_KNOWN + path)).status]).toEqual([path, 404]);
  });

  test.each(['not an address', 'ftp://tools.example', 'https://tools.example/path', 'https://user@tools.example'])(
    'a public address that is %s is refused',
    async (address) => {
      await expect(openLayer({ 'server.public_url': address })).rejects.toMatchObject({ code: 'E3801' });
    },
  );
});

describe('challenges', () => {
  test.each([...ROUTES, SERVER])('PRM-11.1 %s asks for a token, and says where the metadata are', async (route) => {
    const path = route.startsWith('/v1') ? '' : route;
    const scope = path === '' ? '' : 'scope="tools:call", ';
    const where = `${scope}resource_metadata="${PUBLIC}${WELL_KNOWN}${path}"`;
    const none = await ask(known, route);
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, `Bearer realm="sallyport", ${where}`]);
    const bad = await ask(known, route, bearer('a.b.c'));
    expect(bad.headers.get('www-authenticate')).toBe(`Bearer realm="sallyport", error="invalid_token", ${where}`);
    expect([bad.status, bad.headers.get('cache-control')]).toEqual([401, 'no-store']);
  });

  test('PRM-11 a role that is missing is told as scope', async () => {
    const { capability_token } = await plain.layer.mintToken({ roles: ['agent'] });
    const refused = await ask(plain, '/v1/upstreams', bearer(capability_token));
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="sallyport:viewer"');
  });

  test('a server that cannot be is not quoted: the metadata are those of the gateway', async () => {
    const refused = await ask(known, '/mcp/servers/a",scope=b');
    expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${PUBLIC}${WELL_KNOWN}/mcp"`);
  });

  test('a Host that would end the quoted text does not get into it', async () => {
    const { port } = new URL(plain.server.url);
    const sent = request({ port, host: '127.0.0.1', path: '/v1/tools', headers: { host: '127.0.0.1", scope="x' } });
    const answer = await new Promise<string>((resolve, reject) => {
      sent.on(
        'response',
        (response) => void text(response).then(() => resolve(JSON.stringify(response.headers)), reject),
      );
      sent.on('error', reject);
      sent.end();
    });
    expect(answer).not.toContain('scope="x');
  });
});

describe('where a credential may stand', () => {
  test.each(ROUTES)('%s takes it from the headers, once, and never from the address', async (route) => {
    const { capability_token: token } = await plain.layer.mintToken({ roles: ['agent', 'viewer'] });
    const { api_key: key } = await plain.layer.ask('api-keys.create', { name: 'k' }, { door: 'library', local: true });
    for (const headers of [bearer(token), bearer(key), { 'x-api-key': key }])
      expect((await ask(plain, route, headers)).status).toBe(200);
    for (const name of ['access_token', 'ACCESS-TOKEN', 'token', 'api_key', 'capability_token', 'access%5ftoken']) {
      for (const headers of [{}, bearer(token)]) {
        const refused = await ask(plain, `${route}?${name}=${token}`, headers);
        const said = await refused.text();
        expect([name, refused.status, said.includes(token)]).toEqual([name, 400, false]);
      }
    }
    expect((await ask(plain, route, { ...bearer(token), 'x-api-key': key })).status).toBe(400);
  });
});

/** Starts an MCP server over HTTP that records every request. */
async function listeningServer() {
  const heard: string[] = [];
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'listening', version: '1.0.0' },
    },
    'tools/list': { tools: [{ name: 'echo', description: 'Says it again.', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'again' }] },
  };
  const http = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      heard.push(JSON.stringify([incoming.url, incoming.rawHeaders, body]));
      const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: string };
      const result = results[method ?? ''];
      if (id === undefined) response.writeHead(incoming.method === 'GET' ? 405 : 202).end();
      else {
        const end = result === undefined ? { error: { code: -32601, message: 'no' } } : { result };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, ...end }));
      }
    });
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  return { url, heard, close: () => new Promise((done) => http.close(done).closeAllConnections()) };
}

test('PRM-11 the credential of a caller is never passed on to an upstream', async () => {
  const far = await listeningServer();
  const local = { door: 'library', local: true } as const;
  const headers = { 'x-own': 'of-the-definition' };
  const transport = { type: 'http' as const, url: far.url, headers };
  await plain.layer.ask('upstreams.add', { upstream: { name: 'far', transport } }, local);
  const { capability_token: token } = await plain.layer.mintToken({});
  const { api_key: key } = await plain.layer.ask('api-keys.create', { name: 'k' }, local);
  const call = { tool_id: 'far__echo', parameters: {} };
  const asked: readonly (readonly [Record<string, string>, object])[] = [
    [bearer(token), call],
    [{ 'x-api-key': key }, call],
    [{}, { ...call, capability_token: token }],
  ];
  for (const [shown, body] of asked) {
    const response = await fetch(`${plain.server.url}/v1/invocations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: '', ...shown },
      body: JSON.stringify(body),
    });
    expect(await response.json()).toMatchObject({ status: 'success' });
  }
  const all = far.heard.join('\n');
  expect(far.heard.filter((each) => each.includes('tools/call')).length).toBe(asked.length);
  expect(all).toContain('of-the-definition');
  for (const credential of [token, token.split('.')[2] ?? token, key]) expect(all).not.toContain(credential);
  await plain.layer.ask('upstreams.remove', { name: 'far' }, local);
  await far.close();
});
