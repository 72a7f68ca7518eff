// Hot path: `verify` runs for every call; a token seen before costs one hash and one lookup.

import { KiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { sha256 } from '@sallyport/std/sha256';
import { LRUCache } from 'lru-cache';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { VerificationKey } from '../key-source.ts';

/** Bytes of a token; the wire contract allows no more either. */
export const TOKEN_BYTES_MAX = 16 * KiB;
/** Most verified tokens kept in memory. */
const VERIFIED_MAX = 10_000;
/** A larger configured skew would keep expired tokens alive. */
const CLOCK_SKEW_SECONDS_MAX = 300;

/** A token with a valid signature, issuer and audience. */
export interface ReadToken {
  /** Frozen. */
  readonly claims: CapabilityClaims;
  /** What vouches for it, as long as that does. */
  readonly key: Pick<VerificationKey, 'goodUntil'>;
}

/** Checks everything that never changes for a token. Never rejects. */
export type TokenReader = (token: string) => Promise<ReadToken | Failure>;

/** Checks whose result may change between two uses of a token. */
export interface CurrentOptions {
  readonly clock: Clock;
  readonly clockSkewSeconds: number;
  readonly isRevoked: (claims: CapabilityClaims) => boolean;
}

type Verify = (token: string | undefined) => CapabilityClaims | Failure | Promise<CapabilityClaims | Failure>;

/** Caches read tokens, by their SHA-256, and repeats the changing checks on each use. */
export function verifiedTokens(read: TokenReader, options: CurrentOptions): Verify {
  const verified = new LRUCache<string, ReadToken>({ max: VERIFIED_MAX });
  const { clock } = options;
  const isCurrent = currentCheck(options);
  const readNew = async (token: string, key: string): Promise<CapabilityClaims | Failure> => {
    const found = await read(token);
    if (isFailure(found)) return found;
    const refused = isCurrent(found.claims);
    if (refused !== undefined) return refused;
    verified.set(key, found);
    return found.claims;
  };
  return (token) => {
    if (token === undefined || token === '')
      return failure('E3212', 'The request carries no capability token. Send one as "Authorization: Bearer <token>".');
    if (token.length > TOKEN_BYTES_MAX)
      return failure('E3201', `The capability token is longer than ${TOKEN_BYTES_MAX} bytes.`);
    const key = sha256(token);
    const known = verified.get(key);
    if (known === undefined) return readNew(token, key);
    const { claims, key: signedBy } = known;
    // The signing key may have been withdrawn since.
    if (signedBy.goodUntil === undefined || clock.now() < signedBy.goodUntil()) return isCurrent(claims) ?? claims;
    verified.delete(key);
    return readNew(token, key);
  };
}

/** Checks claims for this moment: time and revocation. */
export function currentCheck({ clock, isRevoked, clockSkewSeconds }: CurrentOptions) {
  const skew = Math.max(0, Math.min(clockSkewSeconds, CLOCK_SKEW_SECONDS_MAX));
  return (claims: CapabilityClaims): Failure | undefined => {
    const now = clock.now() / 1000;
    if (now >= claims.exp + skew) return expired(claims.exp);
    if (now < Math.max(claims.nbf ?? claims.iat, claims.iat) - skew)
      return failure('E3201', 'The capability token is not valid yet. Check the clocks of issuer and layer.');
    if (isRevoked(claims)) return failure('E3208', 'The capability token was revoked. Ask for a new one.');
    return undefined;
  };
}

function expired(exp: number): Failure {
  const at = new Date(Math.max(-8.64e15, Math.min(exp * 1000, 8.64e15))).toISOString();
  return failure('E3202', `The capability token expired at ${at}. Ask for a new one.`, { details: { expired_at: at } });
}
