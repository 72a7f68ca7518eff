import type { CallOwner } from '../domain/invocation/call-owner.ts';

/** A session whose calls are counted together. */
export interface QuotaSession {
  readonly owner: CallOwner;
  /** The owner's name of the session; any text. */
  readonly sessionId: string;
}

/** Counts the calls of sessions (PRM-07). */
export interface QuotaStore {
  /**
   * Counts one call, atomically among all instances: of any number of concurrent calls exactly as many pass as are
   * left. A session without counted calls for `idleSeconds` starts again.
   * @param callsMax calls that the session may make, at least 1
   * @returns calls counted with this one; undefined when none was left, and then nothing is counted
   * @throws ToolLayerError E3812 when the store cannot count
   */
  take(session: QuotaSession, callsMax: number, idleSeconds: number): Promise<number | undefined>;
}
