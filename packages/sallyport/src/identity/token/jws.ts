import type { KeyObject } from 'node:crypto';
import { messageOf } from '@sallyport/std/error/message-of';
import { compactVerify, errors } from 'jose';
import type { VerificationKey } from '../key-source.ts';
import { type Algorithm, fitsAlgorithm } from '../keys/algorithms.ts';
import { strictObject } from './strict-json.ts';

/** Header members with which a token would choose its own key or demand unsupported processing. */
const FORBIDDEN_HEADERS = ['jwk', 'jku', 'x5u', 'x5c', 'crit', 'b64', 'zip', 'enc'];
export const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+$/;
const KID_LENGTH_MAX = 1024;
/** Most keys tried for a token that names none of them. */
const TRIED_MAX = 64;

/** The relevant header members of a JWS. */
export interface JwsHeader {
  readonly alg: string;
  readonly kid?: string;
  readonly typ?: string;
}

/** A JWS with a valid signature. */
export interface VerifiedJws {
  readonly header: JwsHeader;
  readonly payload: Uint8Array;
  /** The key that made the signature. */
  readonly key: VerificationKey;
}

/** The fault of a JWS, for operators. `unknownKey`: refreshing the keys may help. */
export class JwsFault extends Error {
  readonly unknownKey: boolean;

  constructor(message: string, unknownKey = false) {
    super(message);
    this.name = 'JwsFault';
    this.unknownKey = unknownKey;
  }
}

/**
 * Verifies a compact JWS (RFC 7515): one of our keys signed it by an accepted algorithm. A key named by `kid` is the
 * only one tried; a token that names none of ours is tried with the keys without an owner-given name.
 * @throws JwsFault when the token is malformed or not signed by a known key
 */
export async function verifyJws(
  token: string,
  keys: readonly VerificationKey[],
  algorithms: readonly Algorithm[],
): Promise<VerifiedJws> {
  const header = headerOf(token);
  const alg = algorithms.find((each) => each === header.alg);
  if (alg === undefined) throw new JwsFault(`its algorithm is not ${algorithms.join(' or ')}`);
  const { candidates, isNamed } = candidatesFor(header, keys);
  for (const key of candidates) {
    const payload = await payloadSignedBy(key.key, alg, token);
    if (payload !== undefined) return { header, payload, key };
  }
  const why = candidates.length === 0 ? 'no key that is known here fits it' : 'its signature is by no key known here';
  throw new JwsFault(why, !isNamed);
}

/** The payload when a key made the signature, else undefined. The key must fit the algorithm. */
async function payloadSignedBy(key: KeyObject, alg: Algorithm, token: string): Promise<Uint8Array | undefined> {
  try {
    return (await compactVerify(token, key, { algorithms: [alg] })).payload;
  } catch (cause) {
    if (cause instanceof errors.JWSSignatureVerificationFailed) return undefined;
    throw cause;
  }
}

/** The header of a compact JWS; the signature is not checked. @throws JwsFault when it is not accepted here */
export function headerOf(token: string): JwsHeader {
  if (!COMPACT.test(token) || !token.split('.').every(isCanonicalBase64Url)) throw new JwsFault('it is no compact JWS');
  const header = objectOf(token.slice(0, token.indexOf('.')), 'header');
  const forbidden = FORBIDDEN_HEADERS.find((name) => Object.hasOwn(header, name));
  if (forbidden !== undefined) throw new JwsFault(`its header has the member ${forbidden}, which is not accepted`);
  const { alg, kid, typ } = header;
  if (typeof alg !== 'string') throw new JwsFault('its header names no algorithm');
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > KID_LENGTH_MAX))
    throw new JwsFault('its kid is odd');
  if (typ !== undefined && typeof typ !== 'string') throw new JwsFault('its typ is odd');
  return { alg, ...(kid === undefined ? {} : { kid }), ...(typ === undefined ? {} : { typ }) };
}

/** The payload of a compact JWS; the signature is not checked. @throws JwsFault when it is no JSON object */
export function payloadOf(token: string): Record<string, unknown> {
  const [, payload = ''] = token.split('.');
  return objectOf(payload, 'payload');
}

function objectOf(part: string, what: string): Record<string, unknown> {
  try {
    return strictObject(Buffer.from(part, 'base64url'));
  } catch (cause) {
    throw new JwsFault(`its ${what} cannot be read: ${messageOf(cause)}`);
  }
}

function candidatesFor({ alg, kid }: JwsHeader, keys: readonly VerificationKey[]) {
  const fitting = keys.filter(
    ({ key, algorithm }) => (algorithm === undefined || algorithm === alg) && fitsAlgorithm(key, alg),
  );
  // A name of ours means that key, even where it does not fit: the algorithm must not choose another one.
  if (keys.some((each) => each.kid === kid))
    return { candidates: fitting.filter((each) => each.kid === kid), isNamed: true };
  const others = kid === undefined ? fitting : fitting.filter((each) => each.named !== true);
  return { candidates: others.slice(0, TRIED_MAX), isNamed: false };
}

/** Other spellings of the same bytes are refused, so that each token has exactly one spelling. */
const isCanonicalBase64Url = (part: string): boolean => Buffer.from(part, 'base64url').toString('base64url') === part;
