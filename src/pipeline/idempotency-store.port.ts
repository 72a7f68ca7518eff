/** A claim of an idempotency key by one request. */
export interface IdempotencyClaim {
  readonly tenantId: string;
  readonly key: string;
  /** SHA-256 over tool, version range and canonical arguments. */
  readonly requestHash: string;
  readonly invocationId: string;
  /** Epoch ms after which the key is free again. */
  readonly expiresAt: number;
  /** Instance that made the claim; absent where that is not known. */
  readonly instanceId?: string;
}

/** Who used an idempotency key first (PIPE-09). */
export interface IdempotencyStore {
  /**
   * Claims the key, atomically. The claim that stands is answered: the caller's own when the key was free or expired,
   * else the earlier one.
   */
  claim(claim: IdempotencyClaim): Promise<IdempotencyClaim>;
  /**
   * Puts a claim in the place of the one that `from` holds, atomically; claims the key as {@link claim} does when `from`
   * holds it no more. The claim that stands is answered.
   */
  takeOver(claim: IdempotencyClaim, from: string): Promise<IdempotencyClaim>;
  /** Frees a key whose call ended before it had any effect. Nothing happens when another invocation holds it. */
  release(tenantId: string, key: string, invocationId: string): Promise<void>;
}
