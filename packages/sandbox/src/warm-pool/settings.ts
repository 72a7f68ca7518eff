/** Limits of what is kept ready. */
export interface WarmPoolSettings {
  /** Most ready sandboxes, all keys together; 0 for none. Default 4. */
  readonly standingMax: number;
  /** How long after its last call sandboxes of a key are kept ready, milliseconds. Default 10 minutes. */
  readonly keepMs: number;
  /** Age at which a ready sandbox is replaced, milliseconds. Default 5 minutes. */
  readonly ageMaxMs: number;
}

export const WARM_POOL_DEFAULTS: WarmPoolSettings = { standingMax: 4, keepMs: 600_000, ageMaxMs: 300_000 };

/** Limits that need no configuration. */
export const WARM_POOL_BOUNDS = {
  /** Most keys remembered; the least recently requested is dropped first. */
  keysMax: 64,
  /** Most ready sandboxes of one key. */
  standingOfKeyMax: 3,
  /**
   * After a call began: delay before checking whether one must be made, and before the next check on a busy machine.
   */
  refillDelayMs: 15,
  refillRetryMs: 50,
  /** Consecutive failures for a key, after which it is skipped until it is forgotten. */
  failuresMax: 3,
} as const;
