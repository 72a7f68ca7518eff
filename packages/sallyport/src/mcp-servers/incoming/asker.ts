/** A call that runs at a server, as far as questions of the server concern it. */
export interface Asker {
  readonly invocationId: string;
  /** The client whose user is asked, the same for all calls of one client; undefined when nobody can be asked. */
  readonly client: string | undefined;
  /** What waits for the person is done inside of it. */
  whileAsking?<Answer>(ask: () => Promise<Answer>): Promise<Answer>;
  /** A question that may belong to this call was shown to nobody. */
  onUnasked?(why: string): void;
}

/** The calls for which a server may ask. */
export interface Askers {
  /** Calls that wait for their result, the oldest first. */
  readonly running: readonly Asker[];
  /** Calls that were given up lately: the server may not have stopped at once. */
  readonly gone: readonly Asker[];
}
