/** A running call from the point of view of its server's questions. */
export interface Asker {
  readonly invocationId: string;
  /** The client whose user is asked, equal for all calls of one client; undefined when nobody can be asked. */
  readonly client: string | undefined;
  /** Wraps the wait for the person. */
  whileAsking?<Answer>(ask: () => Promise<Answer>): Promise<Answer>;
  /** Called when a question that may belong to this call was shown to nobody. */
  onUnasked?(why: string): void;
}

/** The calls that a server may ask for. */
export interface Askers {
  /** Calls that wait for their result, oldest first. */
  readonly running: readonly Asker[];
  /** Recently abandoned calls: the server may not have stopped at once. */
  readonly gone: readonly Asker[];
}
