import {
  createHmac,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { exportJWK, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { isFailure } from '../domain/error/failure.ts';
import { createTokenVerifier, type TokenVerifierOptions } from './capability-token.ts';
import { verifyJws } from './token/jws.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
const NOW = 1_800_000_000;
const CLAIMS = {
  tool_id: 'read_*',
  agent_did: 'did:example:a',
  tenant_id: 'acme',
  allowed_operations: ['execute'],
  iat: NOW,
  exp: NOW + 60,
  iss: 'issuer',
};

const fixture = (options: Partial<TokenVerifierOptions> = {}) => {
  const time = { seconds: NOW };
  const clock = { now: () => time.seconds * 1000, monotonic: () => 0 };
  const verifier = createTokenVerifier({
    keys: [{ kid: 'k1', key: publicKey }],
    issuers: ['issuer'],
    clock,
    ...options,
  });
  const code = async (token: string | undefined) => {
    const answer = await verifier.verify(token);
    return isFailure(answer) ? answer.code : 'ok';
  };
  return { time, verifier, code };
};
const sign = (claims: object, header: object = {}, key: KeyObject = privateKey, alg = 'RS256') =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg, ...header }).sign(key);
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('createTokenVerifier', () => {
  test('a good token gives its claims, frozen, and the same object at once the second time', async () => {
    const { verifier } = fixture();
    const token = await sign(CLAIMS, { kid: 'k1', typ: 'JWT' });
    const claims = await verifier.verify(token);
    expect(claims).toEqual(CLAIMS);
    expect(Object.isFrozen(claims)).toBe(true);
    expect(verifier.verify(token)).toBe(claims);
  });

  test.each([
    ['none', 'E3212', async () => undefined],
    ['empty', 'E3212', async () => ''],
    ['rubbish', 'E3201', async () => 'a.b.c'],
    ['too long', 'E3201', async () => `${'a'.repeat(17_000)}.b.c`],
    ['signed by another key', 'E3201', () => sign(CLAIMS, {}, other.privateKey)],
    ['signed by another key under our kid', 'E3201', () => sign(CLAIMS, { kid: 'k1' }, other.privateKey)],
    ['with an unknown kid but our signature', 'ok', () => sign(CLAIMS, { kid: 'elsewhere' })],
    ['alg none', 'E3201', async () => `${part({ alg: 'none' })}.${part(CLAIMS)}.`],
    ['alg none with a signature', 'E3201', async () => `${part({ alg: 'none' })}.${part(CLAIMS)}.AAAA`],
    ['another RSA algorithm', 'E3201', () => sign(CLAIMS, {}, privateKey, 'RS512')],
    ['PSS', 'E3201', () => sign(CLAIMS, {}, privateKey, 'PS256')],
    ['an embedded jwk', 'E3201', async () => sign(CLAIMS, { jwk: await exportJWK(other.publicKey) }, other.privateKey)],
    ['a jku', 'E3201', () => sign(CLAIMS, { jku: 'https://example.com/jwks' })],
    ['an x5u', 'E3201', () => sign(CLAIMS, { x5u: 'https://example.com/x' })],
    ['crit', 'E3201', async () => `${part({ alg: 'RS256', crit: ['x'], x: 1 })}.${part(CLAIMS)}.AAAA`],
    ['another issuer', 'E3201', () => sign({ ...CLAIMS, iss: 'Issuer' })],
    ['an audience, where none is configured', 'E3201', () => sign({ ...CLAIMS, aud: 'x' })],
    ['a claim of the wrong form', 'E3201', () => sign({ ...CLAIMS, allowed_operations: 'execute' })],
    ['issued in the future', 'E3201', () => sign({ ...CLAIMS, iat: NOW + 60 })],
  ])('a token %s is %s', async (_name, expected, make) => {
    expect(await fixture().code(await make())).toBe(expected);
  });

  test('HS256 with the public key as its secret is refused', async () => {
    const pem = publicKey.export({ type: 'spki', format: 'pem' });
    const head = `${part({ alg: 'HS256' })}.${part(CLAIMS)}`;
    const mac = createHmac('sha256', createSecretKey(Buffer.from(pem)))
      .update(head)
      .digest('base64url');
    expect(await fixture().code(`${head}.${mac}`)).toBe('E3201');
  });

  test('a changed byte of header, payload or signature is refused', async () => {
    const { code } = fixture();
    const token = await sign(CLAIMS);
    const parts = token.split('.');
    for (const index of [0, 1, 2]) {
      const changed = parts.map((text, at) =>
        at === index ? `${text.slice(0, 8)}${text[8] === 'A' ? 'B' : 'A'}${text.slice(9)}` : text,
      );
      expect(await code(changed.join('.'))).toBe('E3201');
    }
    expect(await code(`${token}=`)).toBe('E3201');
    expect(await code(`${token}\n`)).toBe('E3201');
  });

  test('every missing claim is named', async () => {
    const { tool_id: _t, exp: _e, iss: _i, ...rest } = CLAIMS;
    expect(await fixture().verifier.verify(await sign(rest))).toMatchObject({
      code: 'E3207',
      details: { missing: ['tool_id', 'exp', 'iss'] },
    });
    expect(await fixture().code(await sign({}))).toBe('E3207');
  });

  test('expiry holds with the skew at the boundary, also for a token verified before', async () => {
    const { time, code } = fixture();
    const token = await sign(CLAIMS);
    time.seconds = NOW + 64.9;
    expect(await code(token)).toBe('ok');
    time.seconds = NOW + 65;
    expect(await code(token)).toBe('E3202');
    const exact = fixture({ clockSkewSeconds: 0 });
    exact.time.seconds = NOW + 60;
    expect(await exact.code(token)).toBe('E3202');
    const lenient = fixture({ clockSkewSeconds: 1e9 });
    lenient.time.seconds = NOW + 60 + 300;
    expect(await lenient.code(token)).toBe('E3202');
  });

  test('nbf holds with the skew at the boundary', async () => {
    const { time, code } = fixture();
    const token = await sign({ ...CLAIMS, nbf: NOW + 20 });
    expect(await code(token)).toBe('E3201');
    time.seconds = NOW + 15;
    expect(await code(token)).toBe('ok');
    expect(await code(await sign({ ...CLAIMS, nbf: 'soon' }))).toBe('E3201');
  });

  test('revocation is asked on every use', async () => {
    let revoked = false;
    const { code } = fixture({ isRevoked: ({ jti }) => revoked && jti === 'j' });
    const token = await sign({ ...CLAIMS, jti: 'j' });
    expect(await code(token)).toBe('ok');
    revoked = true;
    expect(await code(token)).toBe('E3208');
  });

  test('an audience of ours is accepted', async () => {
    const { code } = fixture({ audiences: ['us'] });
    expect(await code(await sign({ ...CLAIMS, aud: ['them', 'us'] }))).toBe('ok');
    expect(await code(await sign({ ...CLAIMS, aud: ['them'] }))).toBe('E3201');
  });
});

const corpus = new URL('../../../shared/corpora/jwt/wycheproof_jws.json', import.meta.url);
interface Vectors {
  readonly testGroups: readonly {
    readonly public?: { readonly alg?: string; readonly kid?: string; readonly kty: string };
    readonly tests: readonly {
      readonly tcId: number;
      readonly comment: string;
      readonly jws: unknown;
      readonly result: string;
    }[];
  }[];
}

test.skipIf(!existsSync(corpus))('every RS256 vector of Wycheproof is judged as it says', async () => {
  const groups = (JSON.parse(readFileSync(corpus, 'utf8')) as Vectors).testGroups.filter(
    (group) => group.public?.alg === 'RS256',
  );
  let judged = 0;
  const wrong: string[] = [];
  for (const { public: jwk, tests } of groups) {
    if (jwk === undefined) continue;
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    const keys = [{ kid: jwk.kid ?? 'x', key }];
    for (const { tcId, comment, jws, result } of tests) {
      const text = typeof jws === 'string' ? jws : JSON.stringify(jws);
      const accepted = await verifyJws(text, keys, ['RS256']).then(
        () => true,
        () => false,
      );
      judged += 1;
      if (accepted !== (result === 'valid')) wrong.push(`${tcId} ${comment}: ${result}`);
    }
  }
  expect(judged).toBeGreaterThan(200);
  expect(wrong).toEqual([]);
});
