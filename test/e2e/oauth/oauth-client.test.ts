import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { exportJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToolLayer, type EmbeddedToolLayer, type Server, serve, silentLog } from '../../../src/index.ts';
import { DOUBLE, double } from '../layer.fixture.ts';

let folder: string;
let authorization: Awaited<ReturnType<typeof authorizationServer>>;
let layer: EmbeddedToolLayer;
let server: Server;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oauth-client-'));
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

/** A port that nobody listened on a moment ago. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, '127.0.0.1', done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return port;
}

/** An authorization server with the client credentials grant; its tokens are for the resource that was asked for. */
async function authorizationServer() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'as', use: 'sig', alg: 'RS256' }];
  const asked: URLSearchParams[] = [];
  const tokenFor = async (form: URLSearchParams): Promise<object> => {
    asked.push(form);
    const now = Math.floor(Date.now() / 1000);
    const claims = { sub: 'desk', client_id: 'desk', aud: form.get('resource') ?? '', scope: form.get('scope') ?? '' };
    const access_token = await new SignJWT({ ...claims, iss: issuer, iat: now, exp: now + 60 })
      .setProtectedHeader({ alg: 'RS256', kid: 'as', typ: 'at+jwt' })
      .sign(privateKey);
    return { access_token, token_type: 'Bearer', expires_in: 60 };
  };
  const answerTo = async (path: string, body: string): Promise<object | undefined> => {
    if (path === '/jwks') return { keys };
    if (path === '/token') return tokenFor(new URLSearchParams(body));
    if (path !== '/.well-known/oauth-authorization-server') return undefined;
    const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
    const grants = { response_types_supported: ['code'], grant_types_supported: ['client_credentials'] };
    const auth = { token_endpoint_auth_methods_supported: ['client_secret_basic'] };
    return { issuer, ...endpoints, ...grants, ...auth, code_challenge_methods_supported: ['S256'] };
  };
  const http = createServer((request, response) => {
    void text(request).then(async (body) => {
      const answer = await answerTo(request.url ?? '', body);
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? {}));
    });
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { issuer, asked, close: () => new Promise((done) => http.close(done).closeAllConnections()) };
}

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
