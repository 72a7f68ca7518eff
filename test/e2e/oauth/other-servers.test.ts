import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenLayer, openLayer } from '../layer.fixture.ts';

const AUDIENCE = 'https://tools.example';
const NOW = Math.floor(Date.now() / 1000);
const TIMES = { iat: NOW, exp: NOW + 600 };

let privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
let open: OpenLayer;
let issuer = '';
let keys: object = {};
const jwks = createServer((_request, response) => void response.end(JSON.stringify(keys)));

beforeAll(async () => {
  const pair = await generateKeyPair('RS256');
  ({ privateKey } = pair);
  keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', use: 'sig', alg: 'RS256' }] };
  await new Promise<void>((resolve) => jwks.listen(0, '127.0.0.1', resolve));
  const at = `http://127.0.0.1:${(jwks.address() as AddressInfo).port}`;
  issuer = `${at}/realms/tools/`;
  open = await openLayer({
    'oauth.issuer': issuer,
    'oauth.jwks_url': `${at}/certs`,
    'oauth.audiences': [AUDIENCE],
    'oauth.token_types': ['at+jwt', 'JWT'],
  });
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await new Promise((resolve) => jwks.close(resolve).closeAllConnections());
});

const holderOf = async (typ: string, claims: object) => {
  const token = await new SignJWT({ iss: issuer, ...TIMES, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'k', typ })
    .sign(privateKey);
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${open.server.url}/v1/tokens/current`, { headers });
  return { status: response.status, body: (await response.json()) as object };
};

const KEYCLOAK = {
  typ: 'Bearer',
  azp: 'desk',
  sid: 's',
  acr: '1',
  allowed_origins: ['*'],
  realm_access: { roles: ['user'] },
};

test.each([
  ['Keycloak', 'JWT', { ...KEYCLOAK, sub: 'u-1', aud: ['account', AUDIENCE], scope: 'profile tools:call' }],
  [
    'Auth0',
    'JWT',
    { sub: 'auth0|u-1', aud: [AUDIENCE, 'https://id.example/userinfo'], azp: 'desk', scope: 'openid tools:call' },
  ],
  [
    'Auth0 by RFC 9068',
    'at+jwt',
    { sub: 'auth0|u-1', aud: [AUDIENCE], client_id: 'desk', scope: 'tools:call', jti: 'j' },
  ],
  [
    'Microsoft Entra ID',
    'JWT',
    { sub: 'u-1', aud: AUDIENCE, azp: 'desk', scp: 'tools:call other', ver: '2.0', tid: 't' },
  ],
  [
    'a server with a list of scopes',
    'application/at+jwt',
    { sub: 'u-1', aud: AUDIENCE, client_id: 'desk', scp: ['tools:call'] },
  ],
])('PRM-10.2 a token of %s says whose it is', async (_server, typ, claims) => {
  expect(await holderOf(typ, claims)).toMatchObject({
    status: 200,
    body: { agent_did: 'oauth:desk', user_did: `oauth:${claims.sub}`, roles: ['agent'], tenant_id: 'default' },
  });
});

test.each([
  ['of a program alone', { sub: 'desk', client_id: 'desk', aud: AUDIENCE, scope: 'tools:call' }, 200],
  ['for the account service alone', { ...KEYCLOAK, sub: 'u-1', aud: 'account', scope: 'tools:call' }, 401],
  [
    'for nobody, as Cognito makes them',
    { sub: 'u-1', client_id: 'desk', token_use: 'access', scope: 'tools:call' },
    401,
  ],
  ['with scopes that are no text', { sub: 'u-1', client_id: 'desk', aud: AUDIENCE, scp: [1] }, 401],
  [
    'bound to a certificate',
    { sub: 'u-1', client_id: 'desk', aud: AUDIENCE, scope: 'tools:call', cnf: { 'x5t#S256': 'A'.repeat(43) } },
    401,
  ],
  [
    'bound to a key and to a certificate',
    { sub: 'u-1', client_id: 'desk', aud: AUDIENCE, cnf: { jkt: 'A'.repeat(43), 'x5t#S256': 'x' } },
    401,
  ],
  ['bound to a key of an odd form', { sub: 'u-1', client_id: 'desk', aud: AUDIENCE, cnf: { jkt: 'short' } }, 401],
])('PRM-11.2 a token %s', async (_what, claims, status) => {
  expect((await holderOf('JWT', claims)).status).toBe(status);
});

test('PRM-11.6 where access tokens must be bound, one that is not is refused, and the challenge says how', async () => {
  const { port } = jwks.address() as AddressInfo;
  await using strict = await openLayer({
    'oauth.issuer': issuer,
    'oauth.jwks_url': `http://127.0.0.1:${port}/certs`,
    'oauth.audiences': [AUDIENCE],
    'dpop.required': true,
  });
  const token = await new SignJWT({
    iss: issuer,
    ...TIMES,
    sub: 'u-1',
    client_id: 'desk',
    aud: AUDIENCE,
    scope: 'tools:call',
  })
    .setProtectedHeader({ alg: 'RS256', kid: 'k', typ: 'at+jwt' })
    .sign(privateKey);
  const refused = await fetch(`${strict.server.url}/v1/tokens/current`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining('E3216')]);
  expect(refused.headers.get('www-authenticate')).toMatch(/^DPoP realm="sallyport", error="invalid_token", algs=/);
  // The layer's own tokens are bound by the one who makes them.
  const own = await fetch(`${strict.server.url}/v1/tokens/current`, {
    headers: { authorization: `Bearer ${strict.token}` },
  });
  expect(own.status).toBe(200);
});
