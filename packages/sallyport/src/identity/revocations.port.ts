/** What a revocation speaks of: one token, the tokens of an agent, or those of the whole tenant. */
export type RevocationKind = 'token' | 'agent' | 'tenant';

/** Tokens that do not count any more. */
export interface StoredRevocation {
  readonly id: string;
  readonly tenantId: string;
  readonly kind: RevocationKind;
  /** A token's `jti`, or an agent's DID; empty for the tenant. */
  readonly subject: string;
  /** Only tokens issued before this second (epoch) are revoked; absent: all of them, and those to come. */
  readonly issuedBefore?: number;
  /** Epoch ms from which no revoked token can be valid any more; absent: never. Later it may be pruned. */
  readonly expiresAt?: number;
  /** Epoch ms. */
  readonly revokedAt: number;
  /** Agent DID of who asked. */
  readonly revokedBy: string;
  readonly reason?: string;
  /** It was taken back, and says nothing any more. */
  readonly lifted?: true;
}

/** Revocations that were made or taken back, and how far that goes. */
export interface ChangedRevocations {
  /** In no order; lifted ones among them. */
  readonly revocations: readonly StoredRevocation[];
  /** Give it to the next question to hear only of what changed since. */
  readonly revision: number;
}

/** Where revocations are kept for good. Every method is safe to call at the same time from several instances. */
export interface RevocationStore {
  /**
   * Adds one. Where one of the same tenant, kind and subject stands, it becomes as wide as both together and keeps its id.
   * @returns what stands now
   */
  put(revocation: StoredRevocation): Promise<StoredRevocation>;
  /** Takes one back. Undefined when the tenant has none of this id, or it was lifted before. */
  lift(tenantId: string, id: string): Promise<StoredRevocation | undefined>;
  /** Revocations of every tenant that changed after a revision; all of them for 0. No change is ever left out. */
  changedSince(revision: number): Promise<ChangedRevocations>;
  /** Those of a tenant that stand, the latest first, and how many there are. */
  list(
    tenantId: string,
    limit: number,
    offset: number,
  ): Promise<{ readonly revocations: readonly StoredRevocation[]; readonly total: number }>;
  /** Removes what expired up to a time, and what was lifted up to another. Answers how many. */
  prune(expiredBeforeMs: number, liftedBeforeMs: number): Promise<number>;
}

/** Both together: whatever one of them revokes is revoked. Adapters use it in the transaction of `put`. */
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

/** Undefined stands for no bound. */
function larger(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : Math.max(one, other);
}
