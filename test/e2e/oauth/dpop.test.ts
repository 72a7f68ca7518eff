import { hash, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { base64url, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALGORITHMS } from '../../../packages/sallyport/src/identity/keys/algorithms.ts';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from '../layer.fixture.ts';
import { type DpopKey, dpopKey, nonceOf, type ProofChanges } from './dpop-key.fixture.ts';

let open: OpenLayer;
let key: DpopKey;
/** Bound to `key`. */
let token = '';
let nonce = '';

beforeAll(async () => {
  open = await openLayer();
  await open.layer.registerFunction(DOUBLE, double);
  key = await dpopKey();
  token = (await open.layer.mintToken({ key_thumbprint: key.thumbprint })).capability_token;
  nonce = await nonceOf(address('/v1/tools'), token, key);
});
afterAll(() => open[Symbol.asyncDispose]());

const address = (path: string): string => open.server.url + path;
const CALL = JSON.stringify({ tool_id: 'double', parameters: { n: 4 } });
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** POSTs with headers as they are given. */
const postWith = async (headers: Record<string, string>, path = '/v1/invocations', body = CALL) => {
  const response = await fetch(address(path), { method: 'POST', headers: { ...JSON_HEADERS, ...headers }, body });
  const [challenge, given] = ['www-authenticate', 'dpop-nonce'].map((name) => response.headers.get(name));
  const said = JSON.parse(await response.text()) as { result?: unknown; error?: { e_code?: string; message?: string } };
  return { status: response.status, challenge, nonce: given, body: said };
};
const proofFor = (path: string, { claims = {}, ...more }: ProofChanges = {}, method = 'POST') =>
  key.proof(method, address(path), token, { claims: { nonce, ...claims }, ...more });
/** Calls the tool with a proof that differs from the honest one. */
const callWith = async (changes: ProofChanges = {}) =>
  postWith({ authorization: `DPoP ${token}`, dpop: await proofFor('/v1/invocations', changes) });

describe('a token that is bound to a key', () => {
  test('PRM-11.6 is accepted with a proof of the key, at every HTTP door', async () => {
    expect(await callWith()).toMatchObject({ status: 200, body: { result: { value: 8 } } });
    const listed = await fetch(address('/v1/tools?page=1'), {
      headers: { authorization: `dpop ${token}`, dpop: await proofFor('/v1/tools', {}, 'GET') },
    });
    expect([listed.status, await listed.text()]).toEqual([200, expect.stringContaining('double')]);
    for (const path of ['/mcp', '/mcp/discovery']) {
      const opening = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
      const headers = { authorization: `DPoP ${token}`, dpop: await proofFor(path) };
      expect((await postWith(headers, path, JSON.stringify(opening))).status).toBe(200);
    }
  });

  test('PRM-11.6 is refused without: as bearer token, as API key, in the body, in this process', async () => {
    const asBearer = await postWith({ authorization: `Bearer ${token}` });
    expect(asBearer).toMatchObject({ status: 401, body: { error: { e_code: 'E3216' } } });
    expect(asBearer.challenge).toMatch(
      /^DPoP realm="sallyport", error="invalid_token", algs="[^"]*ES256[^"]*", resource/,
    );
    const withProof = { authorization: `Bearer ${token}`, dpop: await proofFor('/v1/invocations') };
    expect(await postWith(withProof)).toMatchObject({ status: 401, body: { error: { e_code: 'E3216' } } });
    expect((await postWith({ 'x-api-key': token })).status).toBe(401);
    const inBody = JSON.stringify({ ...JSON.parse(CALL), capability_token: token });
    expect((await postWith({}, '/v1/invocations', inBody)).status).toBe(401);
    const here = await open.layer.invoke({ tool_id: 'double', parameters: { n: 1 } }, { token });
    expect(here.error?.e_code).toBe('E3216');
    for (const path of ['/mcp', '/mcp/discovery']) {
      const listing = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
      const refused = await postWith({ authorization: `Bearer ${token}` }, path, JSON.stringify(listing));
      expect([refused.status, refused.challenge]).toEqual([
        401,
        expect.stringMatching(/^DPoP .*error="invalid_token"/),
      ]);
    }
  });

  test.each(['ES384', 'ES512', 'PS256', 'RS256', 'EdDSA'])('PRM-11 may be bound to a key for %s', async (alg) => {
    const own = await dpopKey(alg);
    const bound = (await open.layer.mintToken({ key_thumbprint: own.thumbprint })).capability_token;
    const dpop = await own.proof('POST', address('/v1/invocations'), bound, { claims: { nonce } });
    expect((await postWith({ authorization: `DPoP ${bound}`, dpop })).status).toBe(200);
  });

  test('PRM-11 may be an API key', async () => {
    const made = await open.layer.ask(
      'api-keys.create',
      { name: 'bound', key_thumbprint: key.thumbprint },
      LOCAL_CALLER,
    );
    const own = made.api_key;
    expect((await postWith({ 'x-api-key': own })).body.error?.e_code).toBe('E3216');
    expect((await postWith({ authorization: `Bearer ${own}` })).body.error?.e_code).toBe('E3216');
    const dpop = await key.proof('POST', address('/v1/invocations'), own, { claims: { nonce } });
    expect((await postWith({ authorization: `DPoP ${own}`, dpop })).status).toBe(200);
  });
});

describe('a proof', () => {
  const refused = (why: RegExp) => ({
    status: 401,
    challenge: expect.stringMatching(/^DPoP realm="sallyport", error="invalid_dpop_proof", algs="/),
    body: { error: { e_code: 'E3216', message: expect.stringMatching(why) } },
  });

  test.each<[string, ProofChanges, RegExp]>([
    ['for another method', { claims: { htm: 'GET' } }, /another method/],
    ['for another address', { claims: { htu: 'http://127.0.0.1:1/v1/invocations' } }, /another address/],
    ['for another path', { claims: { htu: 'http://127.0.0.1/v1/tools' } }, /another address/],
    ['with a user in its address', { claims: { htu: 'http://u@127.0.0.1/v1/invocations' } }, /another address/],
    ['for no address', { claims: { htu: undefined } }, /another address/],
    ['for another token', { claims: { ath: hash('sha256', 'other', 'base64url') } }, /another token/],
    ['for no token', { claims: { ath: undefined } }, /another token/],
    ['without id', { claims: { jti: undefined } }, /jti/],
    ['with a long id', { claims: { jti: 'x'.repeat(257) } }, /jti/],
    ['without time', { claims: { iat: undefined } }, /iat/],
    ['that is old', { claims: { iat: Math.floor(Date.now() / 1000) - 120 } }, /Check the clock/],
    ['from the future', { claims: { iat: Math.floor(Date.now() / 1000) + 120 } }, /Check the clock/],
    ['from the end of time', { claims: { iat: Number.MAX_SAFE_INTEGER } }, /Check the clock|odd/],
    ['whose own time is over', { claims: { exp: 1 } }, /time is over/],
    ['of another type', { header: { typ: 'JWT' } }, /typ/],
  ])('PRM-11.6 %s is refused', async (_what, changes, why) => {
    expect(await callWith(changes)).toMatchObject(refused(why));
  });

  test('PRM-11.6 is accepted once, also by the answer that another door gave', async () => {
    const dpop = await proofFor('/v1/invocations');
    const headers = { authorization: `DPoP ${token}`, dpop };
    expect((await postWith(headers)).status).toBe(200);
    expect(await postWith(headers)).toMatchObject(refused(/used before/));
    const jti = randomUUID();
    const raced = await Promise.all(Array.from({ length: 8 }, () => callWith({ claims: { jti } })));
    expect(raced.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(401)]);
  });

  test('PRM-11.6 by a thief, who has the token and another key, is refused', async () => {
    const thief = await dpopKey();
    const url = address('/v1/invocations');
    const dpop = await thief.proof('POST', url, token, { claims: { nonce } });
    expect(await postWith({ authorization: `DPoP ${token}`, dpop })).toMatchObject(refused(/another key/));
    const named = await thief.proof('POST', url, token, { claims: { nonce }, header: { jwk: key.publicJwk } });
    expect(await postWith({ authorization: `DPoP ${token}`, dpop: named })).toMatchObject(
      refused(/signature is not by/),
    );
  });

  test('PRM-11.6 is signed, by a public key, with an asymmetric algorithm', async () => {
    const [, claims = '', signature = ''] = (await proofFor('/v1/invocations')).split('.');
    const head = (more: object) => base64url.encode(JSON.stringify({ typ: 'dpop+jwt', jwk: key.publicJwk, ...more }));
    const secret = new Uint8Array(32).fill(7);
    const octets = { kty: 'oct', k: base64url.encode(secret) };
    const symmetric = (jwk: object) =>
      new SignJWT(JSON.parse(Buffer.from(claims, 'base64url').toString()))
        .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk })
        .sign(secret);
    const hostile = {
      'no algorithm': `${head({ alg: 'none' })}.${claims}.`,
      'no algorithm, signed': `${head({ alg: 'none' })}.${claims}.${signature}`,
      'symmetric key': await symmetric(octets),
      'symmetric, public key': await symmetric(key.publicJwk),
      'private key': await proofFor('/v1/invocations', { header: { jwk: key.privateJwk } }),
      'no key': `${base64url.encode('{"alg":"ES256","typ":"dpop+jwt"}')}.${claims}.${signature}`,
      'critical extension': `${head({ alg: 'ES256', crit: ['x'], x: 1 })}.${claims}.${signature}`,
      'a member twice': `${base64url.encode('{"alg":"ES256","alg":"none"}')}.${claims}.${signature}`,
      nothing: '',
      'no JWS': 'proof',
      long: `${head({ alg: 'ES256', x: 'x'.repeat(8000) })}.${claims}.${signature}`,
    };
    for (const [what, dpop] of Object.entries(hostile)) {
      const answer = await postWith({ authorization: `DPoP ${token}`, dpop });
      expect([what, answer.status, answer.body.error?.e_code]).toEqual([what, 401, 'E3216']);
    }
  });

  test('PRM-11 stands in one header: two, and one that is huge, are refused', async () => {
    const { hostname, port } = new URL(open.server.url);
    const send = async (proofs: string[]) => {
      const headers = { ...JSON_HEADERS, authorization: `DPoP ${token}`, dpop: proofs };
      const sent = request({ hostname, port, path: '/v1/invocations', method: 'POST', headers });
      sent.end(CALL);
      return new Promise<[number | undefined, string]>((resolve, reject) => {
        sent.once('error', reject);
        sent.once('response', (answer) => void text(answer).then((body) => resolve([answer.statusCode, body])));
      });
    };
    const [status, body] = await send([await proofFor('/v1/invocations'), await proofFor('/v1/invocations')]);
    expect([status, body]).toEqual([401, expect.stringContaining('E3216')]);
    const [huge] = await send(['x'.repeat(200_000)]);
    expect(huge).toBe(431);
  });

  test('PRM-11 does not make a bound token of one that is not', async () => {
    const dpop = await key.proof('POST', address('/v1/invocations'), open.token, { claims: { nonce } });
    const answer = await postWith({ authorization: `DPoP ${open.token}`, dpop });
    expect(answer.body.error).toMatchObject({ e_code: 'E3216', message: expect.stringContaining('bound to no key') });
    expect((await postWith({ authorization: `Bearer ${open.token}`, dpop: 'anything' })).status).toBe(200);
  });
});

describe('the nonce of a proof', () => {
  const asked = {
    status: 401,
    challenge: expect.stringMatching(/^DPoP realm="sallyport", error="use_dpop_nonce"/),
    body: { error: { e_code: 'E3217' } },
  };

  test.each([undefined, 'made up', '', 'A'.repeat(22)])(
    'PRM-11.6 that is %j is asked for, and the answer brings the right one',
    async (given) => {
      const answer = await callWith({ claims: { nonce: given } });
      expect(answer).toMatchObject(asked);
      expect((await callWith({ claims: { nonce: answer.nonce } })).status).toBe(200);
    },
  );

  test('PRM-11 comes with good answers too, and only to clients that prove keys', async () => {
    expect((await callWith()).nonce).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect((await postWith({ authorization: `Bearer ${open.token}` })).nonce).toBeNull();
  });

  test('PRM-11 of an instance with another key is asked for again', async () => {
    await using other = await openLayer();
    const bound = (await other.layer.mintToken({ key_thumbprint: key.thumbprint })).capability_token;
    const foreign = await nonceOf(`${other.server.url}/v1/tools`, bound, key);
    expect(foreign).not.toBe(nonce);
    expect(await callWith({ claims: { nonce: foreign } })).toMatchObject(asked);
  });
});

describe('an MCP session with a token that is bound to a key', () => {
  const opening = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
  const messages = [
    { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'double', arguments: { n: 1 } } },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } },
    { jsonrpc: '2.0', id: 4, result: {} },
  ];
  const send = async (method: string, session: string, authorization: string, dpop?: string, body?: object) => {
    const headers = {
      ...JSON_HEADERS,
      authorization,
      'mcp-session-id': session,
      ...(dpop === undefined ? {} : { dpop }),
    };
    return fetch(address('/mcp'), { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  };

  test('PRM-11.6 takes a proof with each request and each stream, and none of a thief who knows its id', async () => {
    const opened = await fetch(address('/mcp'), {
      method: 'POST',
      headers: { ...JSON_HEADERS, authorization: `DPoP ${token}`, dpop: await proofFor('/mcp') },
      body: JSON.stringify(opening),
    });
    const session = opened.headers.get('mcp-session-id') ?? '';
    const honest = async (method: string, body?: object) =>
      (await send(method, session, `DPoP ${token}`, await proofFor('/mcp', {}, method), body)).status;
    const thief = async (method: string, body?: object) => {
      const statuses = [(await send(method, session, `Bearer ${token}`, undefined, body)).status];
      const own = await dpopKey();
      const dpop = await own.proof(method, address('/mcp'), token, { claims: { nonce } });
      return [...statuses, (await send(method, session, `DPoP ${token}`, dpop, body)).status];
    };
    for (const message of messages) {
      expect(await honest('POST', message)).toBeLessThan(300);
      expect(await thief('POST', message)).toEqual([401, 401]);
    }
    for (const method of ['GET', 'DELETE']) expect(await thief(method)).toEqual([401, 401]);
    const stream = await send('GET', session, `DPoP ${token}`, await proofFor('/mcp', {}, 'GET'));
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    await stream.body?.cancel();
    expect(await honest('DELETE')).toBe(204);
  });

  test('PRM-11.6 a request of 2026-07-28 takes one too', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { name: 'double', arguments: { n: 5 }, _meta: meta };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const standard = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'double' };
    const answer = await postWith(
      { ...standard, authorization: `DPoP ${token}`, dpop: await proofFor('/mcp') },
      '/mcp',
      body,
    );
    expect(answer).toMatchObject({ status: 200, body: { result: { structuredContent: { value: 10 } } } });
    expect((await postWith({ ...standard, authorization: `Bearer ${token}` }, '/mcp', body)).status).toBe(401);
  });
});

describe('the settings', () => {
  test('PRM-11 the metadata say which signatures proofs may have, and whether tokens must be bound', async () => {
    const metadata = async ({ server }: OpenLayer) =>
      (await (await fetch(`${server.url}/.well-known/oauth-protected-resource/mcp`)).json()) as Record<string, unknown>;
    expect(await metadata(open)).toMatchObject({ dpop_signing_alg_values_supported: Object.keys(ALGORITHMS) });
    expect(await metadata(open)).not.toHaveProperty('dpop_bound_access_tokens_required');
    await using strict = await openLayer({ 'dpop.required': true, 'server.public_url': 'https://tools.example' });
    expect(await metadata(strict)).toMatchObject({ dpop_bound_access_tokens_required: true });
    const unasked = await fetch(`${strict.server.url}/v1/tools`);
    expect(unasked.headers.get('www-authenticate')).toMatch(/^DPoP realm="sallyport", algs="/);
    // The address that clients use is the public one, not the one that the request came to.
    const bound = (await strict.layer.mintToken({ key_thumbprint: key.thumbprint })).capability_token;
    const send = async (url: string) => {
      const given = await nonceOf(`${strict.server.url}/v1/tools`, bound, key);
      const dpop = await key.proof('GET', url, bound, { claims: { nonce: given } });
      return (
        await fetch(`${strict.server.url}/v1/tools?page=1`, { headers: { authorization: `DPoP ${bound}`, dpop } })
      ).status;
    };
    expect(await send('https://tools.example:443/v1/tools?ignored#too')).toBe(200);
    expect(await send(`${strict.server.url}/v1/tools`)).toBe(401);
  });

  test('PRM-11 without nonces a proof needs none, and is still accepted once', async () => {
    await using plain = await openLayer({ 'dpop.nonces': false });
    const bound = (await plain.layer.mintToken({ key_thumbprint: key.thumbprint })).capability_token;
    const url = `${plain.server.url}/v1/tools`;
    const headers = { authorization: `DPoP ${bound}`, dpop: await key.proof('GET', url, bound) };
    const first = await fetch(url, { headers });
    expect([first.status, first.headers.get('dpop-nonce')]).toEqual([200, null]);
    expect((await fetch(url, { headers })).status).toBe(401);
  });
});
