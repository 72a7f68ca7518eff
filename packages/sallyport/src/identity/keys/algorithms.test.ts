import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CompactSign } from 'jose';
import { describe, expect, test } from 'vitest';
import { verifyJws } from '../token/jws.ts';
import { ALGORITHMS, type Algorithm } from './algorithms.ts';

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
      await expect(verifyJws(token, [{ kid: 'k', key: pairOf(other).publicKey }], every)).rejects.toThrow('no key');
  });
});
