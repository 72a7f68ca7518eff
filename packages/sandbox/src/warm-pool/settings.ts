/** How much is kept ready. */
export interface WarmPoolSettings {
  /** Sandboxes that stand ready at most, all keys together; 0 for none. Default 4. */
  readonly standingMax: number;
  /** How long after its last call something is kept ready for a key, milliseconds. Default 10 minutes. */
  readonly keepMs: number;
  /** Age at which a standing sandbox is replaced, milliseconds. Default 5 minutes. */
  readonly ageMaxMs: number;
}

export const WARM_POOL_DEFAULTS: WarmPoolSettings = { standingMax: 4, keepMs: 600_000, ageMaxMs: 300_000 };

/** Bounds that nobody needs to choose. */
export const WARM_POOL_BOUNDS = {
  /** Keys that are remembered. The one that was asked for the longest ago is forgotten first. */
  keysMax: 64,
  /** Sandboxes that stand ready for one key. */
  standingOfKeyMax: 3,
  /** After a call began: when it is looked whether something has to be made, and how soon again on a busy machine. */
  refillDelayMs: 15,
  refillRetryMs: 50,
  /** Failures in a row to make a sandbox for a key, after which it is left alone until it is forgotten. */
  failuresMax: 3,
} as const;
