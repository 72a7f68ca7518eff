import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import type { IdempotencyClaim, IdempotencyStore } from '../../../pipeline/idempotency-store.port.ts';
import { type Clock, systemClock } from '../../../std/clock.ts';

/** Claims held at once when the caller names no bound. */
const CLAIMS_MAX = 1_000_000;
/** Oldest claims looked at for each new one; more than one, so that expired claims go faster than new ones come. */
const SWEPT_PER_CLAIM = 2;

/**
 * Idempotency keys in this process.
 * @param options.claimsMax claims held at once, 1 000 000 by default; a full store refuses new keys with E3812, because
 *   dropping a claim that still stands would let its call run twice
 */
export function memoryIdempotencyStore(
  options: { readonly clock?: Clock; readonly claimsMax?: number } = {},
): IdempotencyStore {
  const { clock = systemClock, claimsMax = CLAIMS_MAX } = options;
  const claims = new Map<string, IdempotencyClaim>();

  const store: IdempotencyStore = {
    async claim(claim) {
      const key = keyOf(claim.tenantId, claim.key);
      const now = clock.now();
      const held = claims.get(key);
      if (held !== undefined && held.expiresAt > now) return held;
      claims.delete(key);
      sweep(claims, now);
      if (claims.size >= claimsMax) {
        throw new ToolLayerError(
          'E3812',
          `All ${claimsMax} idempotency keys that memory may hold are in use. Use PostgreSQL.`,
        );
      }
      const own = { ...claim };
      claims.set(key, own);
      return own;
    },
    async takeOver(claim, from) {
      const key = keyOf(claim.tenantId, claim.key);
      if (claims.get(key)?.invocationId !== from) return store.claim(claim);
      const own = { ...claim };
      claims.set(key, own);
      return own;
    },
    async release(tenantId, key, invocationId) {
      const place = keyOf(tenantId, key);
      if (claims.get(place)?.invocationId === invocationId) claims.delete(place);
    },
  };
  return store;
}

/** Looks at the oldest claims: expired ones go, the others move to the end, so that each is reached in its turn. */
function sweep(claims: Map<string, IdempotencyClaim>, now: number): void {
  let left = SWEPT_PER_CLAIM;
  for (const [key, claim] of claims) {
    if (left-- === 0) return;
    claims.delete(key);
    if (claim.expiresAt > now) claims.set(key, claim);
  }
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
