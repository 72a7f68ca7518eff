import { hash } from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, type JWK, jwtVerify } from 'jose';
import type { PresentedProof } from '../../domain/principal/presented-proof.ts';
import { ALGORITHMS } from '../keys/algorithms.ts';
import { strictObject } from '../token/strict-json.ts';

/** Signatures that proofs may have: every one that tokens may have. Symmetric ones and `none` are not among them. */
export const PROOF_ALGORITHMS: readonly string[] = Object.keys(ALGORITHMS);

/** What a proof says; its signature, form and request are checked. */
export interface ReadProof {
  /** RFC 7638 thumbprint (SHA-256) of the key that signed it. */
  readonly thumbprint: string;
  readonly jti: string;
  /** Epoch s. */
  readonly iat: number;
  readonly nonce?: string;
}

/** Why a proof is not accepted; the message continues "The proof (DPoP) is not accepted: ". */
export class ProofFault extends Error {
  override readonly name = 'ProofFault';
}

/** A proof with an RSA key of 8192 bits takes 3 KiB. */
const PROOF_LENGTH_MAX = 8192;
/** Longest id of a proof. */
const JTI_LENGTH_MAX = 256;
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/;
/** Members of a JWK that only its owner may know (RFC 7518 §6). */
const SECRET_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/**
 * Reads a proof by the rules of RFC 9449 §4.3, except those of its age, nonce and repetition.
 * @param origin of the address that the proof must name
 * @param token that it must come with
 * @param now for a proof that says itself when it ends
 * @throws ProofFault
 */
export async function readProof(
  { jwt, method, path }: PresentedProof,
  origin: string,
  token: string,
  now: Date,
): Promise<ReadProof> {
  const { header, claims } = partsOf(jwt);
  const jwk = publicKeyOf(header);
  const fault = wrongRequest(claims, { method, origin, path, token });
  if (fault !== undefined) throw new ProofFault(fault);
  try {
    await jwtVerify(jwt, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: [...PROOF_ALGORITHMS], currentDate: now });
  } catch (cause) {
    throw new ProofFault(reasonOf(cause as { code?: unknown }), { cause });
  }
  const { jti, iat, nonce } = claims;
  if (typeof jti !== 'string' || jti === '' || jti.length > JTI_LENGTH_MAX)
    throw new ProofFault('its jti is missing or odd');
  if (typeof iat !== 'number') throw new ProofFault('its iat is missing or no number');
  if (nonce !== undefined && typeof nonce !== 'string') throw new ProofFault('its nonce is no text');
  return { thumbprint: await calculateJwkThumbprint(jwk), jti, iat, ...(nonce === undefined ? {} : { nonce }) };
}

type Members = Readonly<Record<string, unknown>>;

/** Several DPoP headers reach the layer joined by commas, and are no compact JWS then. */
function partsOf(jwt: string): { readonly header: Members; readonly claims: Members } {
  if (jwt === '') throw new ProofFault('the request has no header DPoP');
  if (jwt.length > PROOF_LENGTH_MAX) throw new ProofFault(`it is longer than ${PROOF_LENGTH_MAX} characters`);
  const [, header = '', claims = ''] = COMPACT.exec(jwt) ?? [];
  try {
    return { header: objectOf(header), claims: objectOf(claims) };
  } catch (cause) {
    throw new ProofFault('it is not one compact JWS with JSON objects', { cause });
  }
}

const objectOf = (part: string): Members => strictObject(Buffer.from(part, 'base64url'));

function publicKeyOf({ jwk }: Members): JWK {
  if (typeof jwk !== 'object' || jwk === null) throw new ProofFault('its header has no jwk');
  if (SECRET_MEMBERS.some((name) => Object.hasOwn(jwk, name))) throw new ProofFault('its jwk holds a secret part');
  return jwk as JWK;
}

function wrongRequest(
  { htm, htu, ath }: Members,
  { method, origin, path, token }: Readonly<Record<'method' | 'origin' | 'path' | 'token', string>>,
): string | undefined {
  if (htm !== method) return 'it is for another method';
  if (typeof htu !== 'string' || !isSameAddress(htu, origin + path))
    return `it is for another address than ${origin}${path.slice(0, 200)}`;
  return ath === hash('sha256', token, 'base64url') ? undefined : 'it is for another token (ath)';
}

/** Compares without query and fragment, in the normal form of addresses. */
function isSameAddress(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => (URL.canParse(text) ? new URL(text) : undefined));
  return (
    a !== undefined &&
    b !== undefined &&
    a.origin === b.origin &&
    a.pathname === b.pathname &&
    a.username + a.password === ''
  );
}

function reasonOf({ code }: { readonly code?: unknown }): string {
  if (code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') return 'its signature is not by the key that it names';
  if (code === 'ERR_JOSE_ALG_NOT_ALLOWED') return `its algorithm is not one of ${PROOF_ALGORITHMS.join(', ')}`;
  if (code === 'ERR_JWT_EXPIRED') return 'it says that its time is over';
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED') return 'its typ is not dpop+jwt, or its times are odd';
  return 'its header, key or signature cannot be used';
}
