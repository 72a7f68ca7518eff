// Hot path: `verify` runs for every call; a token that was seen before costs one hash and one look-up.
import { LRUCache } from 'lru-cache';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import { type Failure, failure, isFailure } from '../domain/error/failure.ts';
import { KiB } from '../std/bytes.ts';
import { type Clock, systemClock } from '../std/clock.ts';
import { sha256 } from '../std/sha256.ts';
import type { VerificationKey } from './signing-keys.ts';
import { readClaims } from './token/claims.ts';
import { verifyJws } from './token/jws.ts';

/** Bytes of a token; the wire contract allows no more either. */
const TOKEN_BYTES_MAX = 16 * KiB;
/** Verified tokens kept in memory. */
const VERIFIED_MAX = 10_000;
/** Seconds by which the issuer's clock may differ from ours. */
const CLOCK_SKEW_SECONDS = 5;
/** A larger configured skew would keep expired tokens alive. */
const CLOCK_SKEW_SECONDS_MAX = 300;

/** What a verifier trusts. */
export interface TokenVerifierOptions {
  readonly keys: readonly VerificationKey[];
  /** Accepted `iss` values, exact. */
  readonly issuers: readonly string[];
  /** Accepted `alg` values; default RS256 alone. Symmetric algorithms and none cannot be configured. */
  readonly algorithms?: readonly ('RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512')[];
  /** What this layer is called in `aud`; a token that has `aud` must name one of them. Default: none. */
  readonly audiences?: readonly string[];
  /** Default 5, at most 300. */
  readonly clockSkewSeconds?: number;
  /** Asked on every use of a token, also of a cached one, so it must be quick. Default: nothing is revoked. */
  readonly isRevoked?: (claims: CapabilityClaims) => boolean;
  readonly clock?: Clock;
}

/** Verifies capability tokens (PRM-01, 000 §4.1.1). */
export interface TokenVerifier {
  /**
   * The claims of a token: at once when it was verified before, else a promise, which never rejects. Claims are frozen
   * and the same object for the same token.
   * @returns E3212 no token; E3201 not by a configured key, algorithm, issuer or audience, not yet valid, too long, or
   *   not of the right form; E3202 expired; E3207 claims are missing; E3208 revoked
   */
  verify(token: string | undefined): CapabilityClaims | Failure | Promise<CapabilityClaims | Failure>;
}

/** Makes a verifier with its own cache of verified tokens, keyed by SHA-256 of the token. */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const verified = new LRUCache<string, CapabilityClaims>({ max: VERIFIED_MAX });
  const isCurrent = currentCheck(options);
  const verifyNew = async (token: string, key: string): Promise<CapabilityClaims | Failure> => {
    const claims = await readToken(token, options);
    if (isFailure(claims)) return claims;
    const refused = isTrusted(claims, options) ?? isCurrent(claims);
    if (refused !== undefined) return refused;
    verified.set(key, claims);
    return claims;
  };
  return {
    verify(token) {
      if (token === undefined || token === '')
        return failure(
          'E3212',
          'The request carries no capability token. Send one as "Authorization: Bearer <token>".',
        );
      if (token.length > TOKEN_BYTES_MAX)
        return failure('E3201', `The capability token is longer than ${TOKEN_BYTES_MAX} bytes.`);
      const key = sha256(token);
      const known = verified.get(key);
      return known === undefined ? verifyNew(token, key) : (isCurrent(known) ?? known);
    },
  };
}

async function readToken(token: string, options: TokenVerifierOptions): Promise<CapabilityClaims | Failure> {
  const { keys, algorithms = ['RS256'] } = options;
  try {
    return readClaims(await verifyJws(token, keys, algorithms));
  } catch (cause) {
    return failure(
      'E3201',
      `The capability token is not a JWT signed by a known key with ${algorithms.join(' or ')}. Ask for a new one.`,
      { cause },
    );
  }
}

/** What stays true as long as the token exists. */
function isTrusted(claims: CapabilityClaims, { issuers, audiences = [] }: TokenVerifierOptions): Failure | undefined {
  if (!issuers.includes(claims.iss))
    return failure('E3201', 'The issuer of the capability token is not accepted here.');
  const meantFor = claims.aud === undefined ? undefined : [claims.aud].flat();
  if (meantFor !== undefined && !meantFor.some((audience) => audiences.includes(audience)))
    return failure('E3201', 'The capability token is meant for another audience.');
  return undefined;
}

/** What may change between two uses. */
function currentCheck({ clock = systemClock, isRevoked, clockSkewSeconds = CLOCK_SKEW_SECONDS }: TokenVerifierOptions) {
  const skew = Math.max(0, Math.min(clockSkewSeconds, CLOCK_SKEW_SECONDS_MAX));
  return (claims: CapabilityClaims): Failure | undefined => {
    const now = clock.now() / 1000;
    if (now >= claims.exp + skew) return expired(claims.exp);
    const notBefore = (claims as { nbf?: number }).nbf ?? claims.iat;
    if (now < notBefore - skew || now < claims.iat - skew)
      return failure('E3201', 'The capability token is not valid yet. Check the clocks of issuer and layer.');
    if (isRevoked?.(claims) === true) return failure('E3208', 'The capability token was revoked. Ask for a new one.');
    return undefined;
  };
}

function expired(exp: number): Failure {
  const at = new Date(Math.max(-8.64e15, Math.min(exp * 1000, 8.64e15))).toISOString();
  return failure('E3202', `The capability token expired at ${at}. Ask for a new one.`, { details: { expired_at: at } });
}
