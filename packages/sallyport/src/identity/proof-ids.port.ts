/**
 * Proofs of possession that were used, so that none is accepted twice (RFC 9449 §11.1). Shared by all instances over one
 * database. A crash of the database server may lose the latest: nonces limit for how long that matters.
 */
export interface ProofIdStore {
  /**
   * Takes a proof. Atomic: of simultaneous requests with one proof, in any instance, one succeeds.
   * @param hash SHA-256 of the key and of the proof's id, hex
   * @param keptMs how long the proof would be accepted yet; it may be forgotten then
   * @returns false when it was taken before
   * @throws ToolLayerError E3812 when the store cannot say
   */
  take(hash: string, keptMs: number): Promise<boolean>;
}
