import { hash } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { memoryProofIds } from '../../../test/stores/memory-proof-ids.ts';
import { createPossessionCheck, type PossessionParts } from './check-possession.ts';
import { createDpopNonces } from './dpop-nonces.ts';

const START = 1_800_000_000_000;
const TOKEN = 'token';
const REQUEST = { method: 'POST', host: '127.0.0.1:7420', path: '/mcp' };

let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let jkt = '';
beforeAll(async () => {
  keys = await generateKeyPair('ES256');
  jkt = await calculateJwkThumbprint(await exportJWK(keys.publicKey));
});

/** Terms of the check where nothing is set. */
const TERMS = { publicUrl: '', asksNonce: true, proofMs: 60_000, clockSkewSeconds: 5 };

/** A check at a time that the test sets. */
function checkAt(more: Partial<PossessionParts> = {}, key = new Uint8Array(32)) {
  const time = { now: START };
  const clock = { now: () => time.now, monotonic: () => time.now };
  const nonces = createDpopNonces(clock, () => key);
  const ids = memoryProofIds(clock.now);
  const check = createPossessionCheck({ clock, ids, nonces, ...TERMS, asksNonce: false, ...more });
  return { time, nonces, check: (jwt: string) => check({ cnf: { jkt } }, TOKEN, { ...REQUEST, jwt }) };
}

let made = 0;
async function proof(claims: Readonly<Record<string, unknown>> = {}): Promise<string> {
  made += 1;
  const honest = { htm: 'POST', htu: 'http://127.0.0.1:7420/mcp', ath: hash('sha256', TOKEN, 'base64url') };
  return new SignJWT({ ...honest, jti: `proof ${made}`, iat: START / 1000, ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(keys.publicKey) })
    .sign(keys.privateKey);
}

test.each([
  ['as old as it may be', 60_000, true],
  ['older', 60_001, false],
  ['as far ahead as a clock may be', -5_000, true],
  ['further ahead', -5_001, false],
])('PRM-11.6 a proof that is %s', async (_what, age, isAccepted) => {
  const { check, time } = checkAt({ proofMs: 60_000, clockSkewSeconds: 5 });
  time.now = START + age;
  expect(await check(await proof())).toEqual(isAccepted ? undefined : expect.objectContaining({ code: 'E3216' }));
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['another method', { htm: 'GET' }],
  ['another address', { htu: 'http://127.0.0.1:7420/rest' }],
  ['another server', { htu: 'http://127.0.0.2:7420/mcp' }],
  ['an address with a user', { htu: 'http://u@127.0.0.1:7420/mcp' }],
  ['no address', { htu: 7 }],
  ['a list of addresses', { htu: ['http://127.0.0.1:7420/mcp'] }],
  ['another token', { ath: hash('sha256', 'other', 'base64url') }],
  ['no id', { jti: undefined }],
  ['an empty id', { jti: '' }],
  ['an id that is no text', { jti: 7 }],
  ['a time that is no number', { iat: undefined }],
  ['a time as text', { iat: 'now' }],
  ['a nonce that is no text', { nonce: 7 }],
])('PRM-11.6 a proof with %s is refused', async (_what, claims) => {
  const { check } = checkAt();
  expect(await check(await proof())).toBeUndefined();
  expect(await check(await proof(claims))).toMatchObject({ code: 'E3216' });
});

test('PRM-11.6 no setting makes proofs last longer than five minutes', async () => {
  const { check, time } = checkAt({ proofMs: 3_600_000, clockSkewSeconds: 3_600 });
  time.now = START + 300_001;
  expect(await check(await proof())).toMatchObject({ code: 'E3216' });
  time.now = START - 300_001;
  expect(await check(await proof())).toMatchObject({ code: 'E3216' });
});

test('PRM-11.6 a nonce is accepted for two minutes at least and six at most, by each instance with the key', async () => {
  const { check, nonces, time } = checkAt({ asksNonce: true, proofMs: 300_000 });
  const nonce = nonces.current();
  const other = checkAt({ asksNonce: true, proofMs: 300_000 });
  expect(await other.check(await proof({ nonce }))).toBeUndefined();
  const foreign = checkAt({ asksNonce: true }, new Uint8Array(32).fill(1));
  expect(await foreign.check(await proof({ nonce }))).toMatchObject({ code: 'E3217' });
  time.now = START + 120_000;
  expect(nonces.current()).not.toBe(nonce);
  expect(await check(await proof({ nonce, iat: time.now / 1000 }))).toBeUndefined();
  time.now = START + 360_000;
  expect(await check(await proof({ nonce, iat: time.now / 1000 }))).toMatchObject({ code: 'E3217' });
});

test('PRM-11.6 a nonce is that of the key of now, and may be of the period of a clock that is ahead', async () => {
  const time = { now: START };
  const key = { of: new Uint8Array(32) };
  const nonces = createDpopNonces({ now: () => time.now, monotonic: () => 0 }, () => key.of);
  const first = nonces.current();
  expect([nonces.current(), nonces.accepts(first), nonces.accepts(`${first}A`)]).toEqual([first, true, false]);
  time.now = START - 1;
  expect([nonces.current() === first, nonces.accepts(first)]).toEqual([false, true]);
  time.now = START - 120_001;
  expect(nonces.accepts(first)).toBe(false);
  time.now = START;
  nonces.current();
  key.of = new Uint8Array(32).fill(1);
  expect([nonces.current() === first, nonces.accepts(first), nonces.accepts(nonces.current())]).toEqual([
    ...[false, false, true],
  ]);
});

test('PRM-11.6 where nothing is set, a proof needs a nonce, and is a minute old at most, or five seconds ahead', async () => {
  const clock = { now: () => START, monotonic: () => START };
  const nonces = createDpopNonces(clock, () => new Uint8Array(32));
  const strict = createPossessionCheck({ clock, ids: memoryProofIds(clock.now), nonces, ...TERMS });
  const judge = async (claims: object) =>
    strict({ cnf: { jkt } }, TOKEN, { ...REQUEST, jwt: await proof({ ...claims }) });
  const nonce = nonces.current();
  expect(await judge({})).toMatchObject({ code: 'E3217' });
  for (const [age, accepted] of [
    ...[[60, true] as const, [60.001, false] as const],
    ...[[-5, true] as const, [-5.001, false] as const],
  ]) {
    const found = await judge({ nonce, iat: START / 1000 - age });
    expect([age, found]).toEqual([age, accepted ? undefined : expect.objectContaining({ code: 'E3216' })]);
    if (!accepted) expect(found).not.toHaveProperty('cause');
  }
});

test('PRM-11.6 a proof of a clock that is ahead is not taken again for as long as it could be accepted', async () => {
  const { check, time } = checkAt({ proofMs: 60_000, clockSkewSeconds: 5 });
  const jwt = await proof({ iat: START / 1000 + 5 });
  expect(await check(jwt)).toBeUndefined();
  time.now = START + 64_999;
  expect(await check(jwt)).toMatchObject({ code: 'E3216', message: expect.stringContaining('was used before') });
});

test('PRM-11.6 a proof is taken once for all that one request asks, and once at all', async () => {
  const { check } = checkAt();
  const jwt = await proof();
  const parts = { ...REQUEST, jwt };
  const ids = memoryProofIds(() => START);
  const clock = { now: () => START, monotonic: () => START };
  const nonces = createDpopNonces(clock, () => new Uint8Array(32));
  const once = createPossessionCheck({ clock, ids, nonces, ...TERMS, asksNonce: false });
  for (const _asked of [1, 2, 3]) expect(await once({ cnf: { jkt } }, TOKEN, parts)).toBeUndefined();
  expect(await once({ cnf: { jkt } }, TOKEN, { ...parts })).toMatchObject({ code: 'E3216' });
  expect(await check(jwt)).toBeUndefined();
});

test('a token without a key that comes without proof costs no promise', () => {
  const clock = { now: () => START, monotonic: () => START };
  const nonces = createDpopNonces(clock, () => new Uint8Array(32));
  const check = createPossessionCheck({ clock, ids: memoryProofIds(), nonces, ...TERMS });
  expect(check({}, TOKEN, undefined)).toBeUndefined();
});

test('PRM-11.6 where the store of used proofs cannot say, none is accepted', async () => {
  const { check } = checkAt({ ids: { take: () => Promise.reject(new Error('the store is away')) } });
  await expect(check(await proof())).rejects.toThrow('the store is away');
});

describe('PRM-11.6 a proof is refused, with the reason', () => {
  const refused = (why: string) => ({ code: 'E3216', message: expect.stringContaining(why) });
  const honest = () => ({
    htm: 'POST',
    htu: 'http://127.0.0.1:7420/mcp',
    ath: hash('sha256', TOKEN, 'base64url'),
    iat: START / 1000,
  });
  async function signed(header: object, by = keys.privateKey, claims: object = {}, alg = 'ES256'): Promise<string> {
    made += 1;
    return new SignJWT({ ...honest(), jti: `odd ${made}`, ...claims }).setProtectedHeader({ alg, ...header }).sign(by);
  }

  test('that is missing, by another key, or by one that it does not name', async () => {
    const { check } = checkAt();
    const jwk = await exportJWK(keys.publicKey);
    const other = await generateKeyPair('ES256', { extractable: true });
    const otherJwk = await exportJWK(other.publicKey);
    const typ = 'dpop+jwt';
    expect(await check(await signed({ typ, jwk }))).toBeUndefined();
    for (const [jwt, why] of [
      ['', 'no header DPoP'],
      ['x'.repeat(8193), 'longer than 8192'],
      ['x'.repeat(8192), 'not one compact JWS'],
      [`${await signed({ typ, jwk })}, ${await signed({ typ, jwk })}`, 'not one compact JWS'],
      ['W10.W10.x', 'not one compact JWS'],
      [
        await signed({ typ, jwk: otherJwk }, other.privateKey),
        'by another key than the one that the token is bound to',
      ],
      [await signed({ typ, jwk }, other.privateKey), 'signature is not by the key'],
      [await signed({ typ }), 'no jwk'],
      [await signed({ typ, jwk: null }), 'no jwk'],
      [
        await signed({ typ, jwk: { ...otherJwk, d: (await exportJWK(other.privateKey)).d } }, other.privateKey),
        'secret part',
      ],
      [await signed({ jwk }), 'typ is not dpop+jwt'],
      [await signed({ typ: 'jwt', jwk }), 'typ is not dpop+jwt'],
      [await signed({ typ, jwk }, keys.privateKey, { exp: START / 1000 - 60 }), 'its time is over'],
      [await signed({ typ, jwk: { kty: 'EC' } }), 'cannot be used'],
      [await signed({ typ, jwk }, keys.privateKey, { jti: 'x'.repeat(257) }), 'jti is missing or odd'],
      [await signed({ typ, jwk }, keys.privateKey, { htu: 'no address' }), 'another address'],
    ] as const)
      expect([why, await check(jwt)]).toEqual([why, expect.objectContaining(refused(why))]);
    for (const jwt of ['W10.W10.x', await signed({ typ, jwk }, other.privateKey)])
      expect(await check(jwt)).toMatchObject({ cause: { message: expect.any(String), cause: expect.any(Error) } });
    expect(await check(await signed({ typ, jwk }, keys.privateKey, { jti: 'x'.repeat(256) }))).toBeUndefined();
    const secret = new Uint8Array(32);
    const shared = await new SignJWT({ ...honest(), jti: 's' })
      .setProtectedHeader({ alg: 'HS256', typ, jwk })
      .sign(secret);
    expect(await check(shared)).toMatchObject(refused('its algorithm is not one of'));
  });

  test('for a token without proof, and for a proof of a token that is bound to no key', () => {
    const clock = { now: () => START, monotonic: () => START };
    const nonces = createDpopNonces(clock, () => new Uint8Array(32));
    const check = createPossessionCheck({ clock, ids: memoryProofIds(), nonces, ...TERMS });
    expect(check({ cnf: { jkt } }, TOKEN, undefined)).toMatchObject(refused('bound to a key'));
    expect(check({}, TOKEN, { ...REQUEST, jwt: 'x' })).toMatchObject(refused('bound to no key'));
  });

  test('where the request has no address itself, or the key is of a kind that is not known', async () => {
    const clock = { now: () => START, monotonic: () => START };
    const nonces = createDpopNonces(clock, () => new Uint8Array(32));
    const check = createPossessionCheck({ clock, ids: memoryProofIds(), nonces, ...TERMS, asksNonce: false });
    const at = { ...REQUEST, host: 'no host', jwt: await proof() };
    expect(await check({ cnf: { jkt } }, TOKEN, at)).toMatchObject(refused('another address'));
    const jwt = await signed({ typ: 'dpop+jwt', jwk: { kty: 'none' } });
    expect(await check({ cnf: { jkt } }, TOKEN, { ...REQUEST, jwt })).toMatchObject(refused('cannot be used'));
  });

  test('for another address than the public one, where there is one', async () => {
    const { check } = checkAt({ publicUrl: 'https://tools.example.com' });
    expect(await check(await proof())).toMatchObject(refused('another address than https://tools.example.com/mcp'));
    for (const htu of ['https://tools.example.com/mcp', 'https://tools.example.com:443/mcp?a=b#c'])
      expect(await check(await proof({ htu }))).toBeUndefined();
  });
});
