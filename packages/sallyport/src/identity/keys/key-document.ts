import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK } from 'jose';
import type { Log } from '../../telemetry/log.ts';
import type { VerificationKey } from '../key-source.ts';
import { ALGORITHMS, keyFault } from './algorithms.ts';

/** Most keys of one document; each may be tried for a token that names none of them. */
const KEYS_MAX = 64;
const KID_LENGTH_MAX = 256;
const PUBLIC_BLOCK = /-----BEGIN ((?:RSA )?PUBLIC KEY|CERTIFICATE)-----[^-]+-----END \1-----/g;

/**
 * Public keys of a PEM text or a JWKS. In a JWKS, keys that are for encryption, of other types, too weak or broken are
 * skipped.
 * @param source the document's name in log lines
 * @throws Error saying what is wrong, as a sentence after the document's name
 */
export async function keysOfDocument(text: string, source: string, log?: Log): Promise<readonly VerificationKey[]> {
  return text.trimStart().startsWith('{') ? keysOfJwks(text, source, log) : keysOfPem(text);
}

async function keysOfPem(text: string): Promise<readonly VerificationKey[]> {
  if (text.includes('PRIVATE KEY')) throw new Error('holds a private key. Put only public keys there.');
  const blocks = text.match(PUBLIC_BLOCK) ?? [];
  if (blocks.length === 0) throw new Error('holds no PEM block of a public key or certificate, and no JWKS.');
  if (blocks.length > KEYS_MAX) throw tooMany(blocks.length);
  return Promise.all(
    blocks.map(async (block) => {
      const key = usableKey(() => createPublicKey(block), 'holds no key that can be read. It must be PEM.');
      if (typeof key === 'string') throw new Error(key);
      return { kid: await thumbprintOf(key), key };
    }),
  );
}

/** RFC 7517 §5. An empty set is meaningful: its owner vouches for no key. */
async function keysOfJwks(text: string, source: string, log?: Log): Promise<readonly VerificationKey[]> {
  const entries = entriesOf(text);
  if (entries.length > KEYS_MAX) throw tooMany(entries.length);
  const keys: VerificationKey[] = [];
  for (const [at, entry] of entries.entries()) {
    const key = await keyOfJwk(entry);
    if (typeof key === 'string') log?.warn('key-passed-over', { source, at, reason: key });
    else keys.push(key);
  }
  if (keys.length === 0 && entries.length > 0) throw new Error('holds no key that can verify a signature.');
  return keys;
}

function entriesOf(text: string): readonly unknown[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error('is not JSON.');
  }
  const entries = (document as { keys?: unknown }).keys;
  if (!Array.isArray(entries)) throw new Error('is no JWKS: it has no list "keys".');
  return entries;
}

/** Returns the reason when it is no public key for signatures. */
async function keyOfJwk(entry: unknown): Promise<VerificationKey | string> {
  if (typeof entry !== 'object' || entry === null) return 'not an object';
  const jwk = entry as Record<string, unknown>;
  if (Object.hasOwn(jwk, 'd') || Object.hasOwn(jwk, 'k')) return 'holds a private or shared key';
  if (jwk['use'] !== undefined && jwk['use'] !== 'sig') return 'not for signatures';
  const operations = jwk['key_ops'];
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify')))
    return 'not for signatures';
  const algorithm = jwk['alg'];
  if (algorithm !== undefined && !(typeof algorithm === 'string' && Object.hasOwn(ALGORITHMS, algorithm)))
    return 'for another algorithm';
  const key = usableKey(() => createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }), 'cannot be read');
  if (typeof key === 'string') return key;
  const kid = jwk['kid'];
  const named = typeof kid === 'string' && kid !== '' && kid.length <= KID_LENGTH_MAX;
  return {
    kid: named ? kid : await thumbprintOf(key),
    key,
    named,
    ...(algorithm === undefined ? {} : { algorithm: algorithm as string }),
  };
}

/** The key, or why there is none. */
function usableKey(make: () => KeyObject, unreadable: string): KeyObject | string {
  try {
    const key = make();
    return keyFault(key) ?? key;
  } catch {
    return unreadable;
  }
}

/** RFC 7638, SHA-256. */
export async function thumbprintOf(key: KeyObject): Promise<string> {
  return calculateJwkThumbprint(await exportJWK(key));
}

const tooMany = (count: number): Error =>
  new Error(`holds ${count} keys; at most ${KEYS_MAX} are used. Remove retired ones.`);
