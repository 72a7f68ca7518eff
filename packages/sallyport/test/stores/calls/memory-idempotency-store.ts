import { type Clock, systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { IdempotencyClaim, IdempotencyStore } from '../../../src/pipeline/idempotency-store.port.ts';

interface HeldClaim {
  readonly claim: IdempotencyClaim;
  /** End of the claim in epoch ms. */
  readonly expiresAt: number;
}

/** Default of `claimsMax`. */
const CLAIMS_MAX = 1_000_000;
/**
 * How many of the oldest claims are examined for each new claim; more than one, so that expired claims do not
 * accumulate.
 */
const SWEPT_PER_CLAIM = 2;

/**
 * Claims of invocation ids and idempotency keys in memory.
 * @param options.claimsMax number of claims, 1 000 000 by default; a full store refuses new keys with E3812, because
 *   dropping a claim that is still valid would let its call run twice
 */
export function memoryIdempotencyStore(
  options: { readonly clock?: Clock; readonly claimsMax?: number } = {},
): IdempotencyStore {
  const { clock = systemClock, claimsMax = CLAIMS_MAX } = options;
  const claims = new Map<string, HeldClaim>();
  const hold = (place: string, claim: IdempotencyClaim, ttlMs: number): IdempotencyClaim => {
    const own = { ...claim };
    claims.set(place, { claim: own, expiresAt: clock.now() + ttlMs });
    return own;
  };

  const store: IdempotencyStore = {
    async claim(claim, ttlMs) {
      const key = keyOf(claim.tenantId, claim.key);
      const now = clock.now();
      const held = claims.get(key);
      if (held !== undefined && held.expiresAt > now) return held.claim;
      claims.delete(key);
      sweep(claims, now);
      if (claims.size >= claimsMax) {
        throw new ToolLayerError(
          'E3812',
          `All ${claimsMax} idempotency keys that memory may hold are in use. Use PostgreSQL.`,
        );
      }
      return hold(key, claim, ttlMs);
    },
    async takeOver(claim, from, ttlMs) {
      const key = keyOf(claim.tenantId, claim.key);
      return claims.get(key)?.claim.nonce === from ? hold(key, claim, ttlMs) : store.claim(claim, ttlMs);
    },
    async find(tenantId, key) {
      const held = claims.get(keyOf(tenantId, key));
      return held !== undefined && held.expiresAt > clock.now() ? held.claim : undefined;
    },
    async release(tenantId, key, nonce) {
      const place = keyOf(tenantId, key);
      if (claims.get(place)?.claim.nonce === nonce) claims.delete(place);
    },
  };
  return store;
}

/**
 * Examines the oldest claims: removes expired ones and moves the others to the end, so that every claim gets its turn.
 */
function sweep(claims: Map<string, HeldClaim>, now: number): void {
  let left = SWEPT_PER_CLAIM;
  for (const [key, held] of claims) {
    if (left-- === 0) return;
    claims.delete(key);
    if (held.expiresAt > now) claims.set(key, held);
  }
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
