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
