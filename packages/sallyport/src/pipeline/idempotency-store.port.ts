/**
 * Which call an invocation id or an idempotency key means. The claim decides whose they are: it is written before anything
 * of the call can have an effect, and everything else asks for it (adr/0013).
 */
export interface IdempotencyClaim {
  readonly tenantId: string;
  /** The id or the key, told apart from all others of the tenant (call-names.ts). */
  readonly key: string;
  /** SHA-256 over what was asked for; a claim answers only the same request. */
  readonly requestHash: string;
  /** Of the call that has the claim. The layer makes one for each request, so no caller can name another call's. */
  readonly nonce: string;
  /** Id of the row that the call is recorded under. */
  readonly invocationId: string;
  /** Instance that made the claim; absent where that is not known. */
  readonly instanceId?: string;
}

/** Who used an invocation id or an idempotency key first (PIPE-09). */
export interface IdempotencyStore {
  /**
   * Claims the key, atomically. The claim that stands is answered: the given one when the key was free or expired, else
   * the earlier one, as it was made.
   * @param ttlMs how long a new claim lasts, by the clock of the store: all instances share it
   */
  claim(claim: IdempotencyClaim, ttlMs: number): Promise<IdempotencyClaim>;
  /**
   * Replaces the claim that has the nonce `from`, atomically; claims the key as {@link claim} does when no claim has that
   * nonce. The claim that stands is answered.
   */
  takeOver(claim: IdempotencyClaim, from: string, ttlMs: number): Promise<IdempotencyClaim>;
  /** The claim that stands; undefined when the key is free or expired. */
  find(tenantId: string, key: string): Promise<IdempotencyClaim | undefined>;
  /** Frees a key whose call ended before it had any effect. Nothing happens when the claim has another nonce. */
  release(tenantId: string, key: string, nonce: string): Promise<void>;
}
