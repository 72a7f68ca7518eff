/** One input of one tool, as one tenant gives it. It is never compared with another tenant's. */
export interface OutputKey {
  /** The calling tenant. */
  readonly tenantId: string;
  /** Tenant that registered the tool: a catalogue tool and a tenant's own tool are two tools, even with the same id. */
  readonly ownerId: string;
  /** Content hash of the tool's definition, hex: another definition may answer differently. */
  readonly contentHash: string;
  /** SHA-256, hex. */
  readonly inputHash: string;
}

/** The first output that was seen for an input. */
export interface SeenOutput {
  readonly outputHash: string;
  /** The call that gave the output. Its row may be missing: an answer that cannot be recorded is not given. */
  readonly invocationId: string;
  /** Epoch ms. */
  readonly at: number;
}

/** Inputs of one tool of one tenant that a store remembers, at most. */
export const OUTPUTS_PER_TOOL_MAX = 1024;

/** How long an output is remembered, in ms: 90 days, as results are by default. */
export const OUTPUTS_KEPT_MS = 90 * 86_400_000;

/**
 * Outputs of tools that claim to be deterministic, for every instance over one database and across restarts (PIPE-10).
 * Hashes only. A store may lose them, with its server or for lack of room: then an input counts as new.
 */
export interface OutputStore {
  /**
   * Remembers the output of an input, unless one is remembered already. Atomic: of simultaneous calls, in any instance,
   * one is the first for all.
   * @returns the output that is remembered for the input: the earlier one, or the caller's own
   * @throws ToolLayerError E3812 when the store cannot say
   */
  remember(key: OutputKey, output: SeenOutput): Promise<SeenOutput>;
  /**
   * Forgets outputs first seen before a time, of all tenants.
   * @param limit outputs that are forgotten at most
   * @returns how many were
   */
  forget(before: number, limit: number): Promise<number>;
}
