import { compactVerify } from 'jose';
import type { VerificationKey } from '../signing-keys.ts';

/** Header members by which a token would choose its own key or demand processing that we do not do. */
const FORBIDDEN_HEADERS = ['jwk', 'jku', 'x5u', 'x5c', 'crit', 'b64', 'zip', 'enc'];
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+$/;

/**
 * The payload of a compact JWS (RFC 7515), when one of our keys signed it by an algorithm that we accept. A key named by
 * `kid` is the only one tried; a token that names none of ours is tried with all.
 * @throws Error when the token is not of that form or nobody we know signed it
 */
export async function verifyJws(
  token: string,
  keys: readonly VerificationKey[],
  algorithms: readonly string[],
): Promise<Uint8Array> {
  if (!COMPACT.test(token) || !token.split('.').every(isCanonicalBase64Url)) throw new Error('not a compact JWS');
  const header = headerOf(token);
  const forbidden = FORBIDDEN_HEADERS.find((name) => Object.hasOwn(header, name));
  if (forbidden !== undefined) throw new Error(`header member ${forbidden}`);
  if (typeof header['alg'] !== 'string' || !algorithms.includes(header['alg'])) throw new Error('algorithm');
  const named = keys.filter(({ kid }) => kid === header['kid']);
  for (const { key } of named.length > 0 ? named : keys) {
    try {
      return (await compactVerify(token, key, { algorithms: [...algorithms] })).payload;
    } catch {
      // The next key may be the right one.
    }
  }
  throw new Error('signature');
}

/** Other spellings of the same bytes are refused, so that a token has one spelling only. */
const isCanonicalBase64Url = (part: string): boolean => Buffer.from(part, 'base64url').toString('base64url') === part;

function headerOf(token: string): Record<string, unknown> {
  const header: unknown = JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('utf8'));
  if (typeof header !== 'object' || header === null || Array.isArray(header)) throw new Error('header');
  return header as Record<string, unknown>;
}
