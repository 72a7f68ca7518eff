/** A claim of an idempotency key by one request. */
export interface IdempotencyClaim {
  readonly tenantId: string;
  readonly key: string;
  /** SHA-256 over tool, version range and canonical arguments. */
  readonly requestHash: string;
  readonly invocationId: string;
  /** Epoch ms after which the key is free again. */
  readonly expiresAt: number;
}

/** Who used an idempotency key first (PIPE-09). */
export interface IdempotencyStore {
  /**
   * Claims the key, atomically. The claim that stands is answered: the caller's own when the key was free or expired,
   * else the earlier one.
   */
  claim(claim: IdempotencyClaim): Promise<IdempotencyClaim>;
  /** Frees a key whose call ended before it had any effect. Nothing happens when another invocation holds it. */
  release(tenantId: string, key: string, invocationId: string): Promise<void>;
}
