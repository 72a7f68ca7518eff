import { rm } from 'node:fs/promises';
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  type Server,
  serve,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { DOUBLE, double } from '../layer.fixture.ts';
import { addServer } from '../upstreams/offers/offers.fixture.ts';
import { authorizationServer, freePort } from './authorization-server.fixture.ts';

let folder: string;
let authorization: Awaited<ReturnType<typeof authorizationServer>>;
let layer: EmbeddedToolLayer;
let server: Server;

beforeAll(async () => {
  folder = await temporaryDataFolder('oauth-client-');
  authorization = await authorizationServer();
  const port = await freePort();
  layer = await createToolLayer({
    settings: {
      data_folder: folder,
      'server.public_url': `http://127.0.0.1:${port}`,
      'oauth.issuer': authorization.issuer,
      'oauth.jwks_url': `${authorization.issuer}/jwks`,
    },
    log: silentLog,
    environment: {},
  });
  await layer.registerFunction(DOUBLE, double);
  for (const name of ['one', 'two']) await addServer({ layer }, name, {});
  server = await serve(layer, { port });
});
afterAll(async () => {
  await server.close();
  await layer.close();
  await authorization.close();
  await rm(folder, { recursive: true, force: true });
});

test.each([
  { era: '2025-11-25', auto: false },
  { era: '2026-07-28', auto: true },
])('the official client of $era finds the authorization server by itself, and calls a tool', async ({ auto, era }) => {
  const asked = authorization.asked.length;
  const { issuer: expectedIssuer } = authorization;
  const authProvider = new ClientCredentialsProvider({ clientId: 'desk', clientSecret: 'hush', expectedIssuer });
  const negotiation = auto ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name: 'oauth', version: '1.0.0' }, negotiation);
  const url = new URL(`${server.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
  expect(client.getNegotiatedProtocolVersion()).toBe(era);
  const form = authorization.asked[asked];
  expect([form?.get('resource'), form?.get('scope')]).toEqual([url.href, 'tools:call']);
  const called = await client.callTool({ name: 'double', arguments: { n: 21 } });
  expect(called.structuredContent).toEqual({ value: 42 });
  await client.close();
});

async function tokenFor(...resources: readonly string[]): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'tools:call sallyport:operator' });
  for (const resource of resources) body.append('resource', resource);
  const response = await fetch(`${authorization.issuer}/token`, { method: 'POST', body });
  return ((await response.json()) as { access_token: string }).access_token;
}

/** The statuses with which each address answers a token. */
async function statusesOf(token: string): Promise<Readonly<Record<string, number>>> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const opening = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
  const statuses: Record<string, number> = { '/v1/tools': (await fetch(`${server.url}/v1/tools`, { headers })).status };
  for (const path of ['/mcp', '/mcp/discovery', '/mcp/servers/one', '/mcp/servers/two'])
    statuses[path] = (
      await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(opening) })
    ).status;
  return statuses;
}

test.each([
  { era: '2025-11-25', auto: false },
  { era: '2026-07-28', auto: true },
])('PRM-11.1 the address of one server is a resource of its own for the official client of $era', async ({ auto }) => {
  const { issuer: expectedIssuer } = authorization;
  const authProvider = new ClientCredentialsProvider({ clientId: 'desk', clientSecret: 'hush', expectedIssuer });
  const client = new Client({ name: 'one', version: '1.0.0' }, auto ? { versionNegotiation: { mode: 'auto' } } : {});
  const url = new URL(`${server.url}/mcp/servers/one`);
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
  expect(authorization.asked.at(-1)?.get('resource')).toBe(url.href);
  expect((await client.callTool({ name: 'subscribed', arguments: {} })).content).toEqual([
    { type: 'text', text: '{}' },
  ]);
  await client.close();
});

test('PRM-11.2 a token for the address of one server is accepted there and nowhere else, others as before', async () => {
  const at = (path: string): string => `${server.url}${path}`;
  const nowhere = {
    '/v1/tools': 401,
    '/mcp': 401,
    '/mcp/discovery': 401,
    '/mcp/servers/one': 401,
    '/mcp/servers/two': 401,
  };
  const everywhere = Object.fromEntries(Object.keys(nowhere).map((path) => [path, 200]));
  expect(await statusesOf(await tokenFor(at('/mcp/servers/one')))).toEqual({ ...nowhere, '/mcp/servers/one': 200 });
  expect(await statusesOf(await tokenFor(at('/mcp')))).toEqual(everywhere);
  for (const wrong of [
    '/mcp/servers/',
    '/mcp/servers/one/',
    '/mcp/servers/one?a',
    '/mcp/servers',
    '/mcp/servers/no_name',
  ])
    expect([wrong, await statusesOf(await tokenFor(at(wrong)))]).toEqual([wrong, nowhere]);
  expect(await statusesOf(await tokenFor('https://elsewhere.example/mcp/servers/one'))).toEqual(nowhere);
  const both = await tokenFor(at('/mcp/servers/one'), at('/mcp/servers/two'));
  expect(await statusesOf(both)).toEqual({ ...nowhere, '/mcp/servers/one': 200, '/mcp/servers/two': 200 });
});
