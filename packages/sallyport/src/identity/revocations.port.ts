import type { EventsOf } from '../domain/event/events-of.ts';

/** Scope of a revocation: one token, the tokens of an agent, or those of the whole tenant. */
export type RevocationKind = 'token' | 'agent' | 'tenant';

/** A revocation of tokens. */
export interface StoredRevocation {
  readonly id: string;
  readonly tenantId: string;
  readonly kind: RevocationKind;
  /** A token's `jti`, or an agent's DID; empty for the tenant. */
  readonly subject: string;
  /** Only tokens issued before this second (epoch) are revoked; absent: all of them, future ones included. */
  readonly issuedBefore?: number;
  /** Epoch ms from which every revoked token is expired, and its calls are over; absent: never. Then it may be pruned. */
  readonly expiresAt?: number;
  /** Epoch ms. */
  readonly revokedAt: number;
  /** Agent DID of the requester. */
  readonly revokedBy: string;
  readonly reason?: string;
  /** The revocation was lifted and has no effect. */
  readonly lifted?: true;
}

/** Revocations that were made or lifted, up to a revision. */
export interface ChangedRevocations {
  /** In no order; lifted ones included. */
  readonly revocations: readonly StoredRevocation[];
  /** Pass it to the next call to get only later changes. */
  readonly revision: number;
}

/** Durable store of revocations. Every method is safe for concurrent use by several instances. */
export interface RevocationStore {
  /**
   * Adds a revocation. An active one of the same tenant, kind and subject is widened to cover both and keeps its id.
   * @returns the resulting revocation
   */
  put(revocation: StoredRevocation, events?: EventsOf<StoredRevocation>): Promise<StoredRevocation>;
  /** Lifts a revocation. Undefined when the tenant has none with this id, or it was lifted before. */
  lift(tenantId: string, id: string, events?: EventsOf<StoredRevocation>): Promise<StoredRevocation | undefined>;
  /** Revocations of every tenant that changed after a revision; all of them for 0. No change is ever missed. */
  changedSince(revision: number): Promise<ChangedRevocations>;
  /** A tenant's active revocations, latest first, and their number. */
  list(
    tenantId: string,
    limit: number,
    offset: number,
  ): Promise<{ readonly revocations: readonly StoredRevocation[]; readonly total: number }>;
  /** Removes revocations that expired up to a time, and those lifted up to another. Returns how many. */
  prune(expiredBeforeMs: number, liftedBeforeMs: number): Promise<number>;
}

/** The union of both: everything that either revokes. Adapters use it in the transaction of `put`. */
export function widened(standing: StoredRevocation, added: StoredRevocation): StoredRevocation {
  const { issuedBefore: _bound, expiresAt: _expires, ...newest } = added;
  const bound = larger(standing.issuedBefore, added.issuedBefore);
  const expires = larger(standing.expiresAt, added.expiresAt);
  return {
    ...newest,
    id: standing.id,
    ...(bound === undefined ? {} : { issuedBefore: bound }),
    ...(expires === undefined ? {} : { expiresAt: expires }),
  };
}

/** Undefined stands for no limit. */
function larger(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : Math.max(one, other);
}
