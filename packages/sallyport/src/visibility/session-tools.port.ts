import type { CallOwner } from '../domain/invocation/call-owner.ts';

/** A session of one agent and user. The same id names another session for another owner. */
export interface ToolSession {
  readonly owner: CallOwner;
  readonly sessionId: string;
}

/** Which tools completed in which session, for every instance over one database (MOD-05). */
export interface SessionToolStore {
  /**
   * Notes that a tool completed; noting it again only prolongs the note.
   * @param keptMs how long it is remembered
   * @throws ToolLayerError E3812 when the store cannot take it
   */
  note(session: ToolSession, toolId: string, keptMs: number): Promise<void>;
  /**
   * Ids of the tools that completed in a session; empty for an unknown one.
   * @throws ToolLayerError E3812 when the store cannot say
   */
  completed(session: ToolSession): Promise<ReadonlySet<string>>;
}
