/** A server's question to a person in the middle of a call. Everything in it is untrusted. */
export interface ElicitationRequest {
  readonly tenantId: string;
  readonly upstream: string;
  /**
   * Running calls that the question may belong to, all of one client, newest first; where each call has its own stream,
   * the newest is asked.
   */
  readonly invocationIds: readonly string[];
  /** `form`: values for `requestedSchema`; `url`: the person should visit `url`. */
  readonly mode: 'form' | 'url';
  /** At most 4 000 characters. */
  readonly message: string;
  /** Flat JSON Schema of an object, as the server wrote it. */
  readonly requestedSchema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
  /** Wraps the wait for the person: the call holds no slot of its agent meanwhile. */
  whileAsking<Answer>(ask: () => Promise<Answer>): Promise<Answer>;
}

/**
 * The person's answer. `content` fits the schema; absent for a URL. A question that nobody saw is answered with
 * `cancel`, never with `decline`; `unasked` says why.
 */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' }
  | { readonly action: 'cancel'; readonly unasked: string };

/** A client whose user can be asked. */
export interface AskedClient {
  /** Identifies the client's session; absent for a request without one. */
  readonly session?: string;
}

/** Puts questions of servers to people. */
export interface ElicitationAsker {
  /**
   * May answer late or never: `signal` is aborted when the answer is no longer needed, because the call ended, the
   * server withdrew its question, or the connection is gone. A thrown error counts as `cancel`.
   */
  ask(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationAnswer>;
  /** The client that a call runs for; undefined when nobody can be asked there. Synchronous. */
  clientOf(tenantId: string, invocationId: string): AskedClient | undefined;
}
