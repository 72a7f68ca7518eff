import { createHmac, createSecretKey, sign as cryptoSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isFailure } from '@sallyport/std/error/failure';
import { exportJWK, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { readUnverified } from './authenticator.ts';
import type { VerificationKey } from './key-source.ts';
import { keysOfDocument } from './keys/key-document.ts';
import { verifyJws } from './token/jws.ts';
import { type VerifierChanges, verifierWith } from './token/verifier.fixture.ts';

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

const fixture = (options: VerifierChanges = {}) => {
  const time = { seconds: NOW };
  const clock = { now: () => time.seconds * 1000, monotonic: () => 0 };
  const verifier = verifierWith({
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
    const token = await sign({ ...CLAIMS, note: null }, { kid: 'k1', typ: 'JWT' });
    const claims = await verifier.verify(token);
    expect(claims).toEqual({ ...CLAIMS, note: null });
    expect([claims, (claims as typeof CLAIMS).allowed_operations].map(Object.isFrozen)).toEqual([true, true]);
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
  ])('PRM-01.3 PRM-01.9 a token %s is %s', async (_name, expected, make) => {
    expect(await fixture().code(await make())).toBe(expected);
  });

  test('PRM-01 a root holder counts in tokens of the own issuer alone', async () => {
    const root_holder = { tenant_id: 'acme', agent_did: 'did:example:root' };
    const token = await sign({ ...CLAIMS, root_holder });
    expect(await fixture({ ownIssuer: 'issuer' }).verifier.verify(token)).toEqual({ ...CLAIMS, root_holder });
    const foreign = await fixture({ ownIssuer: 'sallyport' }).verifier.verify(token);
    expect(foreign).toEqual(CLAIMS);
    expect(Object.isFrozen(foreign)).toBe(true);
  });

  test('PRM-01.3 PRM-01.9 HS256 with the public key as its secret is refused', async () => {
    const pem = publicKey.export({ type: 'spki', format: 'pem' });
    const head = `${part({ alg: 'HS256' })}.${part(CLAIMS)}`;
    const mac = createHmac('sha256', createSecretKey(Buffer.from(pem)))
      .update(head)
      .digest('base64url');
    expect(await fixture().code(`${head}.${mac}`)).toBe('E3201');
  });

  test('PRM-01.3 a changed byte of header, payload or signature is refused', async () => {
    const { code } = fixture();
    const token = await sign(CLAIMS);
    const parts = token.split('.');
    for (const index of [0, 1, 2]) {
      const changed = parts.map((text, at) =>
        at === index ? `${text.slice(0, 8)}${text[8] === 'A' ? 'B' : 'A'}${text.slice(9)}` : text,
      );
      expect(await code(changed.join('.'))).toBe('E3201');
    }
    // The last character holds four bits that are no part of the signature.
    const respelt = `${token.slice(0, -1)}${String.fromCharCode(token.charCodeAt(token.length - 1) + 1)}`;
    expect(Buffer.from(respelt, 'base64url')).toEqual(Buffer.from(token, 'base64url'));
    expect(await code(respelt)).toBe('E3201');
    expect(await code(`${token}=`)).toBe('E3201');
    expect(await code(`${token}\n`)).toBe('E3201');
  });

  test('PRM-01.5 every missing claim is named', async () => {
    const { tool_id: _t, exp: _e, iss: _i, ...rest } = CLAIMS;
    expect(await fixture().verifier.verify(await sign(rest))).toMatchObject({
      code: 'E3207',
      details: { missing: ['tool_id', 'exp', 'iss'] },
    });
    expect(await fixture().code(await sign({}))).toBe('E3207');
  });

  test('PRM-01.4 PRM-01.10 expiry holds with the skew at the boundary, also for a token verified before', async () => {
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

  test('PRM-01 the refusal of a token that expired says when that was, whatever number it is', async () => {
    const refusal = async (exp: number) => fixture().verifier.verify(await sign({ ...CLAIMS, exp }));
    const at = (ms: number) => ({ code: 'E3202', details: { expired_at: new Date(ms).toISOString() } });
    expect(await refusal(NOW - 60)).toMatchObject(at((NOW - 60) * 1000));
    expect(await refusal(-8_640_000_000_001)).toMatchObject(at(-8.64e15));
  });

  test('PRM-01 nbf holds with the skew at the boundary', async () => {
    const { time, code } = fixture();
    const token = await sign({ ...CLAIMS, nbf: NOW + 20 });
    expect(await code(token)).toBe('E3201');
    time.seconds = NOW + 15;
    expect(await code(token)).toBe('ok');
    expect(await code(await sign({ ...CLAIMS, nbf: 'soon' }))).toBe('E3201');
    time.seconds = NOW;
    for (const [iat, nbf, expected] of [
      [NOW + 5, undefined, 'ok'],
      [NOW + 5, NOW - 9, 'ok'],
      [NOW + 6, NOW - 9, 'E3201'],
      [NOW - 9, NOW + 5, 'ok'],
      [NOW - 9, NOW + 6, 'E3201'],
    ] as const)
      expect([iat, nbf, await code(await sign({ ...CLAIMS, iat, nbf }))]).toEqual([iat, nbf, expected]);
  });

  test('PRM-01.6 revocation is asked on every use', async () => {
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

describe('tokens made to be misread', () => {
  /** A token of any header and payload text, signed as given. */
  const forged = (header: string, payload: string, key: KeyObject = privateKey): string => {
    const head = `${Buffer.from(header).toString('base64url')}.${Buffer.from(payload).toString('base64url')}`;
    return `${head}.${cryptoSign('sha256', Buffer.from(head), key).toString('base64url')}`;
  };
  const text = JSON.stringify(CLAIMS);
  const RS = '{"alg":"RS256"}';

  test.each([
    ['as it should be', 'ok', forged(RS, text)],
    ['with spaces in its JSON', 'ok', forged('{ "alg" : "RS256" }', ` ${text}\n`)],
    ['with a claim twice', 'E3201', forged(RS, text.replace('{', '{"tenant_id":"other",'))],
    ['with a claim twice, spelt otherwise', 'E3201', forged(RS, text.replace('{', '{"tenant\\u005fid":"other",'))],
    ['with a member twice deep inside', 'E3201', forged(RS, text.replace('{', '{"x":[{"a":{"b":1,"b":2}}],'))],
    ['with a member named like one of another object', 'ok', forged(RS, text.replace('{', '{"x":{"exp":1},'))],
    ['with an algorithm twice', 'E3201', forged('{"alg":"none","alg":"RS256"}', text)],
    ['with a byte order mark', 'E3201', forged(RS, `\ufeff${text}`)],
    ['with rubbish behind', 'E3201', forged(RS, `${text}{}`)],
    ['that is a list', 'E3201', forged(RS, `[${text}]`)],
    ['nested too deep', 'E3201', forged(RS, text.replace('{', `{"x":${'['.repeat(32)}${']'.repeat(32)},`))],
    ['nested as deep as may be', 'ok', forged(RS, text.replace('{', `{"x":${'['.repeat(31)}${']'.repeat(31)},`))],
    ['with a kid that is no text', 'E3201', forged('{"alg":"RS256","kid":{"$ne":1}}', text)],
    ['with a kid as long as may be', 'ok', forged(`{"alg":"RS256","kid":"${'k'.repeat(1024)}"}`, text)],
    ['with a kid that is longer', 'E3201', forged(`{"alg":"RS256","kid":"${'k'.repeat(1025)}"}`, text)],
    ['with an algorithm in another case', 'E3201', forged('{"alg":"rs256"}', text)],
    ['with a list of algorithms', 'E3201', forged('{"alg":["RS256"]}', text)],
    ['with an embedded certificate chain', 'E3201', forged('{"alg":"RS256","x5c":["AA"]}', text)],
    ['of the type JWT', 'ok', forged('{"alg":"RS256","typ":"application/jwt"}', text)],
    ['of the type of access tokens', 'E3201', forged('{"alg":"RS256","typ":"at+jwt"}', text)],
    ['of the type of logout tokens', 'E3201', forged('{"alg":"RS256","typ":"logout+jwt"}', text)],
    ['of a type that is no text', 'E3201', forged('{"alg":"RS256","typ":1}', text)],
    ['with an expiry as text', 'E3201', forged(RS, text.replace(/"exp":\d+/, '"exp":"9999999999"'))],
    ['with an expiry beyond all numbers', 'E3201', forged(RS, text.replace(/"exp":\d+/, '"exp":1e999'))],
    ['with bytes that are no UTF-8', 'E3201', forgedBytes()],
    ['in four parts', 'E3201', `${forged(RS, text)}.AAAA`],
    ['with padding', 'E3201', `${forged(RS, text)}==`],
    ['in the flattened JSON form', 'E3201', JSON.stringify({ protected: 'e30', payload: 'e30', signature: 'AA' })],
  ])('PRM-01 a token %s is %s', async (_name, expected, token) => {
    expect(await fixture().code(token)).toBe(expected);
  });

  function forgedBytes(): string {
    const payload = Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
    const head = `${Buffer.from('{"alg":"RS256"}').toString('base64url')}.${payload.toString('base64url')}`;
    return `${head}.${cryptoSign('sha256', Buffer.from(head), privateKey).toString('base64url')}`;
  }

  test('PRM-01.3 one whose type or key is another is refused with the reason', async () => {
    const odd = await fixture().verifier.verify(forged('{"alg":"RS256","typ":"at+jwt"}', text));
    expect(odd).toMatchObject({ message: expect.stringContaining('has the type "at+jwt", not none or jwt') });
    for (const token of [`${forged(RS, text)}.AAAA`, `${forged(RS, text)}=`])
      expect(await fixture().verifier.verify(token)).toMatchObject({
        message: expect.stringContaining('it is no compact JWS'),
      });
    for (const [length, why] of [
      [16_384, 'it is no compact JWS'],
      [16_385, 'longer than 16384 bytes'],
    ] as const)
      expect(await fixture().verifier.verify('a'.repeat(length))).toMatchObject({
        ...{ code: 'E3201', message: expect.stringContaining(why) },
      });
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const { verifier } = fixture({ keys: [{ kid: 'weak', key: weak.publicKey }] });
    expect(await verifier.verify(forged(RS, text, weak.privateKey))).toMatchObject({
      ...{ code: 'E3201', message: expect.stringContaining('it cannot be read'), cause: expect.any(TypeError) },
    });
  });

  test('PRM-01.9 an elliptic curve is accepted only where it is configured, and only with its own key', async () => {
    const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const keys = [
      { kid: 'rsa', key: publicKey },
      { kid: 'ec', key: curve.publicKey },
    ];
    const token = await sign(CLAIMS, { kid: 'ec' }, curve.privateKey, 'ES256');
    expect(await fixture({ keys }).code(token)).toBe('E3201');
    expect(await fixture({ keys, algorithms: ['RS256', 'ES256'] }).code(token)).toBe('ok');
    const confused = await sign(CLAIMS, { kid: 'rsa' }, curve.privateKey, 'ES256');
    expect(await fixture({ keys, algorithms: ['RS256', 'ES256'] }).code(confused)).toBe('E3201');
  });

  test('PRM-01.9 a key that its owner bound to an algorithm is used for that alone', async () => {
    const bound = (algorithm: string) =>
      fixture({ keys: [{ kid: 'k', key: publicKey, algorithm }], algorithms: ['RS256', 'RS512'] });
    const tokens = [await sign(CLAIMS), await sign(CLAIMS, {}, privateKey, 'RS512')];
    const codes = async (algorithm: string) => Promise.all(tokens.map((token) => bound(algorithm).code(token)));
    expect(await Promise.all(['RS256', 'RS512'].map(codes))).toEqual([
      ['ok', 'E3201'],
      ['E3201', 'ok'],
    ]);
  });

  test("PRM-01.9 one issuer's key does not speak for another issuer", async () => {
    const keys = [
      { kid: 'own', key: publicKey, issuers: ['issuer'] },
      { kid: 'foreign', key: other.publicKey, issuers: ['else'] },
    ];
    const { code } = fixture({ keys, issuers: ['issuer', 'else'] });
    expect(await code(await sign({ ...CLAIMS, iss: 'else' }, { kid: 'foreign' }, other.privateKey))).toBe('ok');
    expect(await code(await sign(CLAIMS, { kid: 'foreign' }, other.privateKey))).toBe('E3201');
    expect(await code(await sign(CLAIMS, { kid: 'own' }, other.privateKey))).toBe('E3201');
    // The issuers that a key lists do not extend the issuers that the layer accepts.
    const narrow = fixture({ keys, issuers: ['issuer'] });
    expect(await narrow.code(await sign({ ...CLAIMS, iss: 'else' }, { kid: 'foreign' }, other.privateKey))).toBe(
      'E3201',
    );
  });

  test('a key that its owner named is tried for tokens of that name, and for those without', async () => {
    const { code } = fixture({ keys: [{ kid: 'k1', key: publicKey, named: true }] });
    expect(await code(await sign(CLAIMS, { kid: 'k1' }))).toBe('ok');
    expect(await code(await sign(CLAIMS))).toBe('ok');
    expect(await code(await sign(CLAIMS, { kid: 'other' }))).toBe('E3201');
  });
});

test('PRM-01.6 a token is named, to revoke it, without being trusted: by an id that a revocation takes', async () => {
  const named = async (jti: unknown) => readUnverified(await sign({ ...CLAIMS, jti }, {}, other.privateKey));
  expect(await named('j'.repeat(1024))).toEqual({ jti: 'j'.repeat(1024), tenantId: 'acme', expiresAt: NOW + 60 });
  for (const jti of ['j'.repeat(1025), '', 7, ['j']]) expect(await named(jti)).not.toHaveProperty('jti');
  for (const odd of [{ tenant_id: '' }, { tenant_id: 7 }, { exp: 'soon' }]) {
    const [name] = 'exp' in odd ? ['expiresAt'] : ['tenantId'];
    expect(readUnverified(await sign({ ...CLAIMS, jti: 'j', ...odd }))).not.toHaveProperty(name);
  }
  expect(readUnverified(`e30.${Buffer.from('{"exp":1e999}').toString('base64url')}.AA`)).toEqual({});
  expect(readUnverified('rubbish')).toEqual({});
});

describe('explain', () => {
  test('PRM-02 an accepted token is told claim by claim, and not echoed', async () => {
    const token = await sign({ ...CLAIMS, colour: 'blue' }, { kid: 'k1' });
    const told = await fixture().verifier.explain(token);
    expect(told).toMatchObject({ kind: 'capability_token', accepted: true, reasons: [], header: { kid: 'k1' } });
    expect(told.claims.find(({ name }) => name === 'tool_id')?.means).toContain('tools');
    expect(told.claims.find(({ name }) => name === 'colour')).toEqual({ name: 'colour', value: 'blue' });
    expect(JSON.stringify(told)).not.toContain(token.split('.')[2]);
  });

  test('PRM-02 every reason is told, whatever stands first', async () => {
    const claims = { ...CLAIMS, exp: NOW - 60, iss: 'stranger' };
    const told = await fixture().verifier.explain(await sign(claims, {}, other.privateKey));
    expect(told.accepted).toBe(false);
    expect(new Set(told.reasons.map(({ e_code }) => e_code))).toEqual(new Set(['E3201', 'E3202']));
    expect(told.reasons.map(({ message }) => message).join(' ')).toMatch(/signature.*issuer.*expired/);
  });

  test.each([
    ['rubbish', 'unreadable'],
    ['a.b.c', 'unreadable'],
    ['x'.repeat(40_000), 'unreadable'],
    [`${part({ alg: 'none' })}.${part(CLAIMS)}.AAAA`, 'capability_token'],
  ])('%# what cannot be accepted is explained too', async (token, kind) => {
    expect(await fixture().verifier.explain(token)).toMatchObject({ kind, accepted: false });
  });
});

const corpus = new URL('../../../../../shared/corpora/jwt/wycheproof_jws.json', import.meta.url);
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

describe.skipIf(!existsSync(corpus))('Wycheproof, verified with RS256 alone', () => {
  const groups = existsSync(corpus) ? (JSON.parse(readFileSync(corpus, 'utf8')) as Vectors).testGroups : [];
  const textOf = (jws: unknown): string => (typeof jws === 'string' ? jws : JSON.stringify(jws));
  const isAccepted = async (jws: unknown, keys: readonly VerificationKey[]): Promise<boolean> => {
    try {
      return (await verifyJws(textOf(jws), keys, ['RS256'])).payload.length >= 0;
    } catch {
      return false;
    }
  };

  test('PRM-01.1 PRM-01.3 every RS256 vector is judged as it says', async () => {
    let judged = 0;
    const wrong: string[] = [];
    for (const { public: jwk, tests } of groups) {
      if (jwk?.alg !== 'RS256') continue;
      const keys = await keysOfDocument(JSON.stringify({ keys: [jwk] }), 'corpus');
      for (const { tcId, comment, jws, result } of tests) {
        judged += 1;
        if ((await isAccepted(jws, keys)) !== (result === 'valid')) wrong.push(`${tcId} ${comment}: ${result}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(judged).toBe(233);
  });

  test('PRM-01 every token of another group is refused', async () => {
    let judged = 0;
    for (const { public: jwk, tests } of groups) {
      if (jwk?.alg === 'RS256') continue;
      // A key that is not for signatures is ignored, so no key remains for its tokens.
      const document = JSON.stringify({ keys: jwk === undefined ? [] : [jwk] });
      const keys = await keysOfDocument(document, 'corpus').catch(() => []);
      for (const { tcId, jws } of tests) {
        judged += 1;
        expect([tcId, await isAccepted(jws, keys)]).toEqual([tcId, false]);
      }
    }
    expect(judged).toBeGreaterThan(150);
  });
});
