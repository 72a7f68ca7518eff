import type { CallOwner } from '../domain/invocation/call-owner.ts';

/** Whose calls are counted together. */
export interface QuotaSession {
  readonly owner: CallOwner;
  /** What the owner's session is known by; any text. */
  readonly sessionId: string;
}

/** Counts the calls of sessions (PRM-07). */
export interface QuotaStore {
  /**
   * Counts one call, atomically among all instances: of any number of calls at the same time exactly as many pass as
   * are left. A session that counted nothing for `idleSeconds` begins anew.
   * @param callsMax calls that the session may make, at least 1
   * @returns calls counted with this one; undefined when none was left, and then nothing is counted
   * @throws ToolLayerError E3812 when the store cannot count
   */
  take(session: QuotaSession, callsMax: number, idleSeconds: number): Promise<number | undefined>;
}
