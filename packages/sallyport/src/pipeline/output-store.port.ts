/** One input of one tool, as one tenant gives it. What another tenant gave is never compared with it. */
export interface OutputKey {
  /** Who calls. */
  readonly tenantId: string;
  /** Tenant that registered the tool: the catalogue's and a tenant's own tool are two, also where they say the same of themselves. */
  readonly ownerId: string;
  /** Of the tool's definition, hex: another definition may answer otherwise. */
  readonly contentHash: string;
  /** SHA-256, hex. */
  readonly inputHash: string;
}

/** What an input gave the first time it was seen. */
export interface SeenOutput {
  readonly outputHash: string;
  /** The call that gave it. Its row may be missing: an answer that cannot be recorded is not given. */
  readonly invocationId: string;
  /** Epoch ms. */
  readonly at: number;
}

/** Inputs of one tool of one tenant that a store remembers, at most. */
export const OUTPUTS_PER_TOOL_MAX = 1024;

/** How long an output is remembered, in ms: 90 days, as results are by default. */
export const OUTPUTS_KEPT_MS = 90 * 86_400_000;

/**
 * What tools gave that say they are deterministic, for every instance over one database and across restarts (PIPE-10).
 * Hashes only. A store may lose them, with its server or for want of room: then an input counts as new.
 */
export interface OutputStore {
  /**
   * Remembers what an input gave, unless something is remembered of it already; atomically, so that of calls at the same
   * moment, in any instance, one is the first for all.
   * @returns what is remembered of the input: what was seen first, or the caller's own
   * @throws ToolLayerError E3812 when the store cannot say
   */
  remember(key: OutputKey, output: SeenOutput): Promise<SeenOutput>;
  /**
   * Forgets what was first seen before a time, of all tenants.
   * @param limit outputs that are forgotten at most
   * @returns how many were
   */
  forget(before: number, limit: number): Promise<number>;
}
