import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CompactSign } from 'jose';
import { describe, expect, test } from 'vitest';
import { verifyJws } from '../token/jws.ts';
import { ALGORITHMS, type Algorithm, fitsAlgorithm, isAlgorithm, keyFault } from './algorithms.ts';

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });
const CURVES = Object.fromEntries(
  ['prime256v1', 'secp384r1', 'secp521r1'].map((namedCurve) => [namedCurve, generateKeyPairSync('ec', { namedCurve })]),
);
const EDWARDS = generateKeyPairSync('ed25519');

const pairOf = (algorithm: Algorithm): { privateKey: KeyObject; publicKey: KeyObject } => {
  const kind: { type: string; curve?: string } = ALGORITHMS[algorithm];
  if (kind.type === 'rsa') return RSA;
  return kind.curve === undefined ? EDWARDS : (CURVES[kind.curve] ?? EDWARDS);
};
const every = Object.keys(ALGORITHMS) as Algorithm[];

describe('PRM-01 each algorithm', () => {
  test.each(every)('%s is verified as another library signs it, and by no other algorithm', async (algorithm) => {
    const { privateKey, publicKey } = pairOf(algorithm);
    const token = await new CompactSign(Buffer.from('{}')).setProtectedHeader({ alg: algorithm }).sign(privateKey);
    const keys = [{ kid: 'k', key: publicKey }];
    expect(Buffer.from((await verifyJws(token, keys, every)).payload).toString()).toBe('{}');
    const others = every.filter((each) => each !== algorithm);
    await expect(verifyJws(token, keys, others)).rejects.toThrow('algorithm');
    // The form of the signature shows which algorithm made it, whatever the header claims.
    const [, payload = '', signature = ''] = token.split('.');
    for (const other of others.filter(
      (each) => pairOf(each) === pairOf(algorithm) && each !== 'EdDSA' && each !== 'Ed25519',
    )) {
      const header = Buffer.from(JSON.stringify({ alg: other })).toString('base64url');
      await expect(verifyJws(`${header}.${payload}.${signature}`, keys, every)).rejects.toThrow('signature');
    }
    const flipped = Buffer.from(signature, 'base64url');
    flipped[0] = (flipped[0] ?? 0) ^ 1;
    for (const wrong of [flipped, flipped.subarray(0, -1), Buffer.alloc(flipped.length)]) {
      const changed = `${token.slice(0, token.lastIndexOf('.'))}.${wrong.toString('base64url')}`;
      await expect(verifyJws(changed, keys, every)).rejects.toThrow('signature');
    }
  });

  test('a key of another kind or curve is not even tried', async () => {
    const token = await new CompactSign(Buffer.from('{}'))
      .setProtectedHeader({ alg: 'ES256' })
      .sign(pairOf('ES256').privateKey);
    for (const other of ['RS256', 'ES384', 'EdDSA'] as const)
      await expect(verifyJws(token, [{ kid: 'k', key: pairOf(other).publicKey }], every)).rejects.toThrow(
        'no key that is known here',
      );
  });
});

test('PRM-01.9 a key fits the algorithms of its own kind and curve alone', () => {
  // What fits an object of a key is remembered, so each is a new one.
  const fits = (key: KeyObject): string[] => {
    const fresh = createPublicKey(key.export({ type: 'spki', format: 'pem' }));
    return every.filter((algorithm) => fitsAlgorithm(fresh, algorithm));
  };
  expect(fits(RSA.publicKey)).toEqual(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']);
  expect(fits(CURVES['prime256v1']?.publicKey ?? EDWARDS.publicKey)).toEqual(['ES256']);
  expect(fits(CURVES['secp384r1']?.publicKey ?? EDWARDS.publicKey)).toEqual(['ES384']);
  expect(fits(CURVES['secp521r1']?.publicKey ?? EDWARDS.publicKey)).toEqual(['ES512']);
  expect(fits(EDWARDS.publicKey)).toEqual(['EdDSA', 'Ed25519']);
  expect([isAlgorithm('RS256'), isAlgorithm('rs256'), isAlgorithm('toString')]).toEqual([true, false, false]);
});

test('PRM-01.9 keys that are too weak, on other curves or of another kind are refused', () => {
  const faultOf = (key: KeyObject): string | undefined => keyFault(key);
  for (const { publicKey } of [RSA, EDWARDS, ...Object.values(CURVES)]) expect(faultOf(publicKey)).toBeUndefined();
  const rsa = (modulusLength: number) =>
    keyFault({ asymmetricKeyType: 'rsa', asymmetricKeyDetails: { modulusLength } } as KeyObject);
  expect([2048, 8192].map(rsa)).toEqual([undefined, undefined]);
  for (const bits of [2047, 8193]) expect(rsa(bits)).toContain('RSA keys of 2048 bits or more, 8192 at most');
  expect(faultOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey)).toContain('P-256');
  expect(faultOf(generateKeyPairSync('x25519').publicKey)).toContain('RSA, EC or Ed25519');
});
