/**
 * Values that a tool keeps in the layer, by name: of one tenant and one tool, whatever its version, shared by the agents
 * of the tenant. Writing is part of the call's transaction: nobody else sees what a call wrote before it is on record as
 * completed, and of a call that fails, is aborted or answers badly nothing stays (PIPE-03).
 */
export interface ToolState {
  /**
   * What the call itself wrote, else what is there; undefined when there is nothing.
   * @throws E3102 for a name that is none, or names without end; E3805 when the call is over
   */
  get(name: string): Promise<unknown>;
  /**
   * Writes a JSON value. Waits up to two seconds for another call that has written it and is not over.
   * @throws E3704 when another call has it still, or changed it since this one read it: read it again and decide anew;
   *   E3102 for what is too large or too much, E3109 for what is not JSON or when the tool says that it is pure, E3805
   *   when the call is over
   */
  put(name: string, value: unknown): Promise<void>;
  /** Removes what is there, as `put` writes it; does nothing when there is nothing. */
  delete(name: string): Promise<void>;
}
