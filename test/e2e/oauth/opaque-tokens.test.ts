import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStoredState } from '../../../packages/sallyport/src/doors/rest/authorization-server/stored-state.ts';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer } from '../layer.fixture.ts';
import { freePort } from './authorization-server.fixture.ts';
import { dpopKey, nonceOf } from './dpop-key.fixture.ts';

const AUDIENCE = 'https://tools.example';
const folder = mkdtempSync(join(tmpdir(), 'sallyport-opaque-'));
const file = join(folder, 'secret');
let issuer = '';
let open: OpenLayer;
/** Counts questions about tokens. */
let asked = 0;
let server: ReturnType<typeof createServer>;

beforeAll(async () => {
  const port = await freePort();
  issuer = `http://127.0.0.1:${port}`;
  const state = await openStoredState(join(folder, 'state.json'));
  const client = { redirect_uris: [], response_types: [], grant_types: ['client_credentials'] };
  const provider = new Provider(issuer, {
    adapter: state.adapterOf,
    clients: [
      { ...client, client_id: 'desk', client_secret: 'hush' },
      { ...client, client_id: 'layer', client_secret: 'se cret+', grant_types: [] },
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: async () => true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: async (_context: unknown, audience: string) => ({
          audience,
          scope: 'tools:call',
          accessTokenFormat: 'opaque',
        }),
      },
    },
  });
  const answer = provider.callback();
  server = createServer((request, response) => {
    if (request.url === '/token/introspection') asked += 1;
    void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  writeFileSync(file, 'se cret+\n');
  open = await openLayer(settings());
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await new Promise((resolve) => server.close(resolve).closeAllConnections());
  rmSync(folder, { recursive: true, force: true });
});

const settings = (more: object = {}) => ({
  'oauth.issuer': issuer,
  'oauth.audiences': [AUDIENCE],
  'oauth.introspection_url': `${issuer}/token/introspection`,
  'oauth.introspection_client_id': 'layer',
  'oauth.introspection_secret_file': file,
  ...more,
});
const desk = `Basic ${Buffer.from('desk:hush').toString('base64')}`;
const tokenFor = async (resource = AUDIENCE, headers: Record<string, string> = {}): Promise<string> => {
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'tools:call', resource });
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    body,
    headers: { authorization: desk, ...headers },
  });
  return ((await response.json()) as { access_token: string }).access_token;
};
const holderOf = async (authorization: string, headers: Record<string, string> = {}, { server: { url } } = open) => {
  const response = await fetch(`${url}/v1/tokens/current`, { headers: { authorization, ...headers } });
  return { status: response.status, body: (await response.json()) as { e_code?: string; agent_did?: string } };
};

test('PRM-10.2 an opaque token is what its server says, which is asked once', async () => {
  const token = await tokenFor();
  expect(token).not.toContain('.');
  const before = asked;
  const holders = await Promise.all([1, 2, 3].map(() => holderOf(`Bearer ${token}`)));
  for (const holder of holders) expect(holder).toMatchObject({ status: 200, body: { agent_did: 'oauth:desk' } });
  expect((await holderOf(`Bearer ${token}`)).status).toBe(200);
  expect(asked - before).toBe(1);
  const explained = await open.layer.ask('tokens.explain', { token }, LOCAL_CALLER);
  expect(explained).toMatchObject({ kind: 'access_token', accepted: true, reasons: [] });
  expect(JSON.stringify(explained)).not.toContain(token);
});

test('PRM-11.2 a token for another resource, one that was withdrawn, and one that is made up are refused', async () => {
  expect(await holderOf(`Bearer ${await tokenFor('https://other.example')}`)).toMatchObject({
    status: 401,
    body: { e_code: 'E3201' },
  });
  const token = await tokenFor();
  await fetch(`${issuer}/token/revocation`, {
    method: 'POST',
    body: new URLSearchParams({ token }),
    headers: { authorization: desk },
  });
  expect(await holderOf(`Bearer ${token}`)).toMatchObject({ status: 401, body: { e_code: 'E3201' } });
  for (const made of ['made-up', 'a.b', 'é', 'x'.repeat(20_000)])
    expect((await holderOf(`Bearer ${encodeURI(made)}`)).status).not.toBe(200);
  expect((await holderOf(`Bearer ${open.token}`)).status).toBe(200);
});

test('PRM-11.6 an opaque token that is bound to a key needs its proof', async () => {
  const key = await dpopKey();
  const token = await tokenFor(AUDIENCE, {
    dpop: await key.proof('POST', `${issuer}/token`, '', { claims: { ath: undefined } }),
  });
  expect((await holderOf(`Bearer ${token}`)).body.e_code).toBe('E3216');
  const url = `${open.server.url}/v1/tokens/current`;
  const nonce = await nonceOf(url, token, key);
  const dpop = await key.proof('GET', url, token, { claims: { nonce } });
  expect((await holderOf(`DPoP ${token}`, { dpop })).status).toBe(200);
});

test('PRM-10.2 where the server cannot be asked, or does not know the layer, no opaque token is accepted', async () => {
  writeFileSync(join(folder, 'wrong'), 'wrong');
  for (const more of [
    { 'oauth.introspection_url': 'http://127.0.0.1:1/token/introspection' },
    { 'oauth.introspection_secret_file': join(folder, 'wrong') },
  ]) {
    await using other = await openLayer(settings(more));
    const refused = await holderOf(`Bearer ${await tokenFor()}`, {}, other);
    expect(refused).toMatchObject({ status: 403, body: { e_code: 'E3206' } });
    expect(JSON.stringify(refused)).not.toMatch(/wrong|se cret/);
  }
});

test.each([
  [{ 'oauth.introspection_url': 'http://id.example/introspect' }, /https/],
  [{ 'oauth.introspection_client_id': '' }, /introspection_client_id/],
  [{ 'oauth.introspection_secret_file': '' }, /introspection_secret_file/],
  [{ 'oauth.introspection_secret_file': '/nowhere/secret' }, /cannot be read/],
  [{ 'oauth.issuer': '' }, /oauth\.issuer/],
])('the settings %j are refused', async (more, message) => {
  await expect(openLayer(settings(more))).rejects.toMatchObject({
    code: 'E3801',
    message: expect.stringMatching(message),
  });
});
