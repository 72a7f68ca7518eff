import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, exportJWK, jwtVerify, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToolLayer, type EmbeddedToolLayer, serve, silentLog } from '../../../packages/sallyport/src/index.ts';
import { urlOf } from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from '../layer.fixture.ts';

const LOCAL = { door: 'library', local: true } as const;
const ISSUER = 'https://id.example';
const AUDIENCE = 'https://tools.example';

/** Starts an authorization server for the test: it serves a key set over HTTP and signs tokens. */
async function authorizationServer() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'as-1', use: 'sig', alg: 'RS256' }];
  const http = createServer((_request, response) => response.end(JSON.stringify({ keys })));
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  const sign = (claims: object, typ = 'at+jwt', key: KeyObject = privateKey) => {
    const now = Math.floor(Date.now() / 1000);
    const usual = { iss: ISSUER, aud: AUDIENCE, sub: 'ada', client_id: 'desk', iat: now, exp: now + 60, jti: 'a1' };
    return new SignJWT({ ...usual, ...claims }).setProtectedHeader({ alg: 'RS256', kid: 'as-1', typ }).sign(key);
  };
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/jwks`;
  return { url, sign, close: () => new Promise((done) => http.close(done)) };
}

let opened: OpenLayer;
let layer: EmbeddedToolLayer;
let oauth: Awaited<ReturnType<typeof authorizationServer>>;
beforeAll(async () => {
  oauth = await authorizationServer();
  opened = await openLayer({
    'oauth.issuer': ISSUER,
    'oauth.jwks_url': oauth.url,
    'oauth.audiences': [AUDIENCE],
  });
  layer = opened.layer;
  await layer.registerFunction(DOUBLE, double);
});
afterAll(async () => {
  await opened[Symbol.asyncDispose]();
  await oauth.close();
});

const call = async (token: string): Promise<string> => {
  const answer = await layer.invoke({ tool_id: 'double', parameters: { n: 2 } }, { token });
  return answer.error?.e_code ?? answer.status;
};
const status = async (token: string, path: string, method = 'GET'): Promise<number> => {
  const response = await fetch(opened.server.url + path, { method, headers: { authorization: `Bearer ${token}` } });
  await response.body?.cancel();
  return response.status;
};
const mint = async (request: Parameters<typeof layer.mintToken>[0] = {}) =>
  (await layer.mintToken(request)).capability_token;

describe('revocation', () => {
  test('PRM-01.1 PRM-01.2 a token is a JWT signed with RS256, and says all that 000 names', async () => {
    const may = { paths: ['/srv'], mode: 'ro' as const, hosts: ['api.example.com'], ports: [443], secrets: ['key'] };
    const asked = { ...may, tool_id: 'dou*', tool_version: '^1.0.0', agent_did: 'did:example:a', tenant_id: 'default' };
    const token = await mint(asked);
    const keys = createRemoteJWKSet(new URL(`${opened.server.url}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(token, keys, { algorithms: ['RS256'] });
    expect(payload).toMatchObject({
      ...{ tool_id: 'dou*', tool_version: '^1.0.0', agent_did: 'did:example:a', tenant_id: 'default' },
      allowed_operations: ['execute'],
      filesystem_permissions: { allowed_paths: ['/srv'], mode: 'ro' },
      network_permissions: { allowed_hosts: ['api.example.com'], allowed_ports: [443] },
      credential_permissions: { allowed_secrets: ['key'] },
      ...{ exp: expect.any(Number), iat: expect.any(Number), iss: 'sallyport', jti: expect.any(String) },
    });
    expect([await call(token), await call(await mint({ ...asked, tool_version: '^2.0.0' }))]).toEqual([
      'success',
      'E3209',
    ]);
  });

  test('PRM-01.6 a revoked token is refused at once, also one that was used before', async () => {
    const token = await mint();
    expect(await call(token)).toBe('success');
    await layer.ask('tokens.revoke', { token }, LOCAL);
    expect(await call(token)).toBe('E3208');
    expect(await call(await mint())).toBe('success');
  });

  test('PRM-01.7 an agent is revoked as a whole, until it is taken back', async () => {
    const token = await mint({ agent_did: 'did:example:bad' });
    const { revocation_id } = await layer.ask('tokens.revoke', { agent_did: 'did:example:bad' }, LOCAL);
    expect(await call(token)).toBe('E3208');
    await expect(mint({ agent_did: 'did:example:bad' })).rejects.toMatchObject({ code: 'E3208' });
    await layer.ask('revocations.lift', { revocation_id }, LOCAL);
    expect(await call(token)).toBe('success');
  });

  test('PRM-01.8 a tenant revokes what was issued before; what is minted afterwards counts', async () => {
    const tenant = { ...LOCAL, tenantId: 'acme' };
    const before = await mint({ tenant_id: 'acme' });
    await layer.ask('tokens.revoke', { whole_tenant: true, reason: 'leaked' }, tenant);
    expect(await status(before, '/v1/tokens/current')).toBe(401);
    expect(await status(await mint({ tenant_id: 'acme' }), '/v1/tokens/current')).toBe(200);
    expect(await call(await mint())).toBe('success');
  });

  test('PRM-01.6 what one instance revokes, another on the same database refuses within a second', async () => {
    const { embeddedDatabase } = layer;
    if (embeddedDatabase === undefined) throw new Error('no embedded database');
    const settings = { data_folder: `${opened.folder}/other`, 'database.url': urlOf(embeddedDatabase) };
    const other = await createToolLayer({ settings, log: silentLog, environment: {} });
    try {
      const token = (await other.mintToken({})).capability_token;
      await other.ask('tokens.inspect', {}, { door: 'library', token });
      await layer.ask('tokens.revoke', { token }, LOCAL);
      await expect
        .poll(() => other.ask('tokens.inspect', {}, { door: 'library', token }).catch(({ code }) => code), {
          timeout: 1_000,
          interval: 50,
        })
        .toBe('E3208');
    } finally {
      await other.close();
    }
  });

  test('an operator revokes in its own tenant alone', async () => {
    const operator = { door: 'rest', token: await mint({ tenant_id: 'globex', roles: ['operator'] }) } as const;
    await expect(layer.ask('tokens.revoke', { token: await mint() }, operator)).rejects.toMatchObject({
      code: 'E3213',
    });
    const listed = await layer.ask('revocations.list', {}, operator);
    expect(listed.total).toBe(0);
  });

  test.each([
    ['nothing', {}],
    ['two things', { jti: 'a', agent_did: 'b' }],
    ['a time for one token', { jti: 'a', issued_before: '2026-01-01T00:00:00Z' }],
    ['rubbish', { token: 'rubbish' }],
  ])('a revocation of %s is refused', async (_name, request) => {
    await expect(layer.ask('tokens.revoke', request, LOCAL)).rejects.toMatchObject({ code: 'E3801' });
  });
});

describe('keys', () => {
  test('PRM-02.3 after a rotation old tokens count for the overlap, new ones are signed with the new key', async () => {
    const old = await mint();
    const { kid, replaced_kid } = await layer.ask('keys.rotate', {}, LOCAL);
    expect(await call(old)).toBe('success');
    expect(await call(await mint())).toBe('success');
    const published = await (await fetch(`${opened.server.url}/.well-known/jwks.json`)).json();
    expect((published as { keys: { kid: string }[] }).keys.map((key) => key.kid)).toEqual([kid, replaced_kid]);
    await layer.ask('keys.rotate', { overlap_seconds: 0 }, LOCAL);
    const third = await mint();
    expect(await call(third)).toBe('success');
    expect((await layer.ask('keys.list', {}, LOCAL)).own.map(({ state }) => state)).toEqual([
      'signing',
      'retired',
      'accepted',
    ]);
  });

  test('a token of a key that was replaced without overlap is refused, also one that was used before', async () => {
    const old = await mint();
    expect(await call(old)).toBe('success');
    await layer.ask('keys.rotate', { overlap_seconds: 0 }, LOCAL);
    expect(await call(old)).toBe('E3201');
  });

  test('to rotate takes the role admin', async () => {
    const operator = { door: 'rest', token: await mint({ roles: ['operator'] }) } as const;
    await expect(layer.ask('keys.rotate', {}, operator)).rejects.toMatchObject({ code: 'E3213' });
  });
});

describe('API keys', () => {
  test('PRM-10.1 a key is an identity with roles and bounds, until it is revoked', async () => {
    const roles = ['viewer' as const, 'agent' as const];
    const request = { name: 'build', tool_id: 'dou*', roles, agent_did: 'did:example:ci' };
    const { api_key, key } = await layer.ask('api-keys.create', request, LOCAL);
    expect(api_key).toMatch(/^sp_[\w-]{43}$/);
    expect(await layer.ask('tokens.inspect', {}, { door: 'rest', token: api_key })).toMatchObject({
      agent_did: 'did:example:ci',
      roles,
    });
    expect(await call(api_key)).toBe('success');
    const headers = { 'x-api-key': api_key };
    expect((await fetch(`${opened.server.url}/v1/tokens/current`, { headers })).status).toBe(200);
    expect(await status(api_key, '/v1/api-keys')).toBe(200);
    expect(await status(api_key, `/v1/api-keys/${key.key_id}`, 'DELETE')).toBe(403);
    await layer.ask('api-keys.revoke', { key_id: key.key_id }, LOCAL);
    expect(await call(api_key)).toBe('E3208');
    const { keys } = await layer.ask('api-keys.list', {}, LOCAL);
    expect(keys).toMatchObject([{ name: 'build', state: 'revoked', prefix: api_key.slice(0, 9) }]);
    expect(JSON.stringify(keys)).not.toContain(api_key.slice(9));
  });

  test('nobody gives away a role that they do not have', async () => {
    const operator = { door: 'rest', token: await mint({ roles: ['operator'] }) } as const;
    for (const role of ['admin', 'approver'] as const) {
      const create = layer.ask('api-keys.create', { name: 'x', roles: [role] }, operator);
      await expect(create).rejects.toMatchObject({ code: 'E3213' });
      await expect(layer.ask('tokens.mint', { roles: [role] }, operator)).rejects.toMatchObject({ code: 'E3213' });
    }
    await layer.ask('api-keys.create', { name: 'x', roles: ['operator', 'viewer', 'agent'] }, operator);
    const elsewhere = layer.ask('api-keys.create', { name: 'x', tenant_id: 'globex' }, operator);
    await expect(elsewhere).rejects.toMatchObject({ code: 'E3213' });
  });

  test('no credential enters the record', async () => {
    const { api_key } = await layer.ask('api-keys.create', { name: 'secret' }, LOCAL);
    const token = await mint();
    await layer.ask('tokens.revoke', { token }, LOCAL);
    await layer.ask('tokens.revoke', { token: api_key }, LOCAL);
    const page = await layer.ask('audit.query', {}, LOCAL);
    const text = JSON.stringify(page);
    expect(text).toContain('api-key-created');
    expect(text).toContain('token-revoked');
    expect(text).not.toContain(api_key);
    expect(text).not.toContain(token.split('.')[2]);
  });
});

describe('access tokens', () => {
  test('PRM-10.2 scopes give roles, and tools only with tools:call', async () => {
    const operator = await oauth.sign({ scope: 'sallyport:operator' });
    expect(await status(operator, '/v1/api-keys')).toBe(200);
    expect(await call(operator)).toBe('E3215');
    const agent = await oauth.sign({ scope: 'tools:call other' });
    expect(await call(agent)).toBe('success');
    expect(await status(agent, '/v1/api-keys')).toBe(403);
    expect(await layer.ask('tokens.inspect', {}, { door: 'rest', token: agent })).toMatchObject({
      agent_did: 'oauth:desk',
      user_did: 'oauth:ada',
      tenant_id: 'default',
      roles: ['agent'],
    });
  });

  test.each([
    ['for another audience', { aud: 'https://other.example' }, 'at+jwt', 'E3201'],
    ['without an audience', { aud: undefined }, 'at+jwt', 'E3207'],
    ['that is an ID token', {}, 'JWT', 'E3201'],
    ['that expired', { exp: 1 }, 'at+jwt', 'E3202'],
    ['that claims the own issuer', { iss: 'sallyport', tool_id: '*' }, 'JWT', 'E3201'],
  ])('PRM-11.2 an access token %s is refused', async (_name, claims, typ, code) => {
    expect(await call(await oauth.sign({ scope: 'tools:call', ...claims }, typ))).toBe(code);
  });

  test('PRM-01 an access token is revoked like any other', async () => {
    const token = await oauth.sign({ scope: 'tools:call', jti: 'gone' });
    expect(await call(token)).toBe('success');
    await layer.ask('tokens.revoke', { jti: 'gone' }, LOCAL);
    expect(await call(token)).toBe('E3208');
  });
});

test('PRM-02.6 where tokens are not required the layer listens on this machine alone', async () => {
  for (const mode of ['optional', 'development'] as const) {
    const lenient = { ...layer, settings: { ...layer.settings, 'tokens.mode': mode } };
    await expect(serve(lenient, { host: '0.0.0.0', port: 0 })).rejects.toMatchObject({ code: 'E3801' });
  }
});
