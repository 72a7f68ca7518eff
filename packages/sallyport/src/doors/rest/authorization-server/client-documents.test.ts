import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import { fastify } from 'fastify';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import { createBodyBudget } from '../../request-body.ts';
import { mountAuthorizationServer } from './mount-authorization-server.ts';
import { openStoredState } from './stored-state.ts';

const CLIENT = 'https://client.example/metadata.json';
const CALLBACK = 'http://127.0.0.1:3939/callback';

/** Documents that clients publish, by address. */
const documents = new Map<string, object>();
const app = fastify();
let issuer = '';

beforeAll(async () => {
  await app.listen({ port: 0, host: '127.0.0.1' });
  issuer = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  await app.close();
});

/** A server whose clients publish their documents in `documents`. */
async function server() {
  const served = fastify();
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  mountAuthorizationServer(served, {
    terms: {
      issuer,
      resources: [`${issuer}/mcp`],
      isResource: (address) => address === `${issuer}/mcp`,
      scopes: [{ scope: 'tools:call', role: 'agent' }],
      toolScopes: [],
      users: ['alice'],
      loginCode: 'AAAAA-BBBBB',
      clientSecret: 'not used here',
    },
    state: await openStoredState(join(tmpdir(), `sallyport-never-written-${process.pid}`)),
    log: silentLog,
    bodies: createBodyBudget(64 * MiB),
    signingKey: { ...(await exportJWK(privateKey)), kid: 'k', use: 'sig', alg: 'RS256' },
    cookieKey: 'cookies',
    formKey: new Uint8Array(32),
    fetch: async (url) => {
      const found = documents.get(String(url));
      return found === undefined ? new Response('', { status: 404 }) : Response.json(found);
    },
  });
  return served;
}

const open = server();
afterAll(async () => (await open).close());

const document = (more: object = {}): object => ({
  client_id: CLIENT,
  client_name: 'Published client',
  redirect_uris: [CALLBACK],
  token_endpoint_auth_method: 'none',
  ...more,
});
async function authorize(client_id: string, redirect_uri = CALLBACK) {
  const query = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: 'code',
    scope: 'tools:call',
    resource: `${issuer}/mcp`,
    code_challenge: 'A'.repeat(43),
    code_challenge_method: 'S256',
  });
  return (await open).inject({ url: `/auth/authorize?${query}`, headers: { host: new URL(issuer).host } });
}

test('PRM-11.7 a client is known by the document at its address, and asked for by that name', async () => {
  documents.set(CLIENT, document());
  const sent = await authorize(CLIENT);
  expect([sent.statusCode, sent.headers.location]).toEqual([303, expect.stringMatching(/^\/auth\/consent\//)]);
  const cookies = [sent.headers['set-cookie'] ?? []].flat().map((line) => line.split(';')[0]);
  const page = await (await open).inject({
    url: String(sent.headers.location),
    headers: { host: new URL(issuer).host, cookie: cookies.join('; ') },
  });
  expect(page.body).toContain('Published client');
});

test.each([
  ['names another client', '/other', { client_id: 'https://client.example/not-this' }, CALLBACK],
  ['has a shared secret', '/secret', { client_secret: 'x' }, CALLBACK],
  ['authenticates by a shared secret', '/basic', { token_endpoint_auth_method: 'client_secret_basic' }, CALLBACK],
  ['names another redirect address', '/redirect', {}, 'http://127.0.0.1:3940/callback'],
  ['is too large', '/large', { client_name: 'x'.repeat(6_000) }, CALLBACK],
])('PRM-11.7 a document that %s is refused', async (_what, path, more, redirect) => {
  const client_id = `https://client.example${path}`;
  documents.set(client_id, document({ client_id, ...more }));
  expect((await authorize(client_id, redirect)).statusCode).toBe(400);
});

test('PRM-11.7 an address without a document is refused', async () => {
  expect((await authorize('https://client.example/absent')).statusCode).toBe(400);
});
