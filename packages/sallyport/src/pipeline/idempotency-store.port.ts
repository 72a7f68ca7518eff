/**
 * Which call an invocation id or an idempotency key means. The claim decides which call owns them: it is written before
 * the call can have any effect, and every later step checks it (adr/0013).
 */
export interface IdempotencyClaim {
  readonly tenantId: string;
  /** The id or the key, made distinct from all other names of the tenant (call-names.ts). */
  readonly key: string;
  /** SHA-256 over what was asked for; a claim answers only the same request. */
  readonly requestHash: string;
  /**
   * Nonce of the call that has the claim. The layer makes one for each request, so no caller can name another call's.
   */
  readonly nonce: string;
  /** Id of the row in which the call is recorded. */
  readonly invocationId: string;
  /** Instance that made the claim; absent when it is not known. */
  readonly instanceId?: string;
}

/** The first user of each invocation id or idempotency key (PIPE-09). */
export interface IdempotencyStore {
  /**
   * Claims the key, atomically. Resolves to the claim that is in force: the given one when the key was free or expired,
   * else the earlier one, unchanged.
   * @param ttlMs how long a new claim lasts, by the clock of the store: all instances share it
   */
  claim(claim: IdempotencyClaim, ttlMs: number): Promise<IdempotencyClaim>;
  /**
   * Replaces the claim with the nonce `from`, atomically; when no claim has that nonce, claims the key as {@link claim}
   * does. Resolves to the claim that is in force.
   */
  takeOver(claim: IdempotencyClaim, from: string, ttlMs: number): Promise<IdempotencyClaim>;
  /** The claim in force; undefined when the key is free or expired. */
  find(tenantId: string, key: string): Promise<IdempotencyClaim | undefined>;
  /** Frees a key whose call ended before it had any effect. Nothing happens when the claim has another nonce. */
  release(tenantId: string, key: string, nonce: string): Promise<void>;
}
