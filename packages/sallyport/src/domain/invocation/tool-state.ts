/**
 * Values that a tool keeps in the layer, by name: for one tenant and one tool, across its versions, shared by the
 * agents of the tenant. Writing is part of the call's transaction: other calls see a write only after its call is on
 * record as completed, and nothing stays of a call that fails, is aborted or answers with an invalid result (PIPE-03).
 */
export interface ToolState {
  /**
   * What the call itself wrote, else the stored value; undefined when there is none.
   * @throws E3102 for an invalid name, or too many names; E3805 when the call is over
   */
  get(name: string): Promise<unknown>;
  /**
   * Writes a JSON value. Waits up to two seconds for another call that has written it and is not over.
   * @throws E3704 when another call still holds it, or changed it since this one read it: read it again and decide
   *   anew; E3102 for a value that is too large or one too many, E3109 for a value that is not JSON or when the tool's
   *   manifest says that it is pure, E3805 when the call is over
   */
  put(name: string, value: unknown): Promise<void>;
  /** Removes the value, under the same rules as `put`; does nothing when there is none. */
  delete(name: string): Promise<void>;
}
