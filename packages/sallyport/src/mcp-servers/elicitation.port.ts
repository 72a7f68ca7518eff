/** What a server asks a person in the middle of a call. Everything in it is untrusted. */
export interface ElicitationRequest {
  readonly tenantId: string;
  readonly upstream: string;
  /** The calls that run and that the question may belong to, all of one client; the newest first, which is asked where each has a stream of its own. */
  readonly invocationIds: readonly string[];
  /** `form`: values for `requestedSchema`; `url`: the person shall visit `url`. */
  readonly mode: 'form' | 'url';
  /** At most 4 000 characters. */
  readonly message: string;
  /** Flat JSON Schema of an object, as the server wrote it. */
  readonly requestedSchema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
  /** What waits for the person is done inside of it: the call holds no slot of its agent meanwhile. */
  whileAsking<Answer>(ask: () => Promise<Answer>): Promise<Answer>;
}

/**
 * What the person says. `content` fits the schema; absent for a URL. A question that no person was shown is answered with
 * `cancel`, never with `decline`, and `unasked` says why.
 */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' }
  | { readonly action: 'cancel'; readonly unasked: string };

/** A client whose user can be asked. */
export interface AskedClient {
  /** Tells sessions of clients apart; absent for a request without one. */
  readonly session?: string;
}

/** Puts questions of servers to people. */
export interface ElicitationAsker {
  /**
   * Answers late or never as it likes: `signal` is aborted when nobody waits for the answer any more, since the call ended, the
   * server took its question back, or the connection is gone. What it throws counts as `cancel`.
   */
  ask(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationAnswer>;
  /** The client that a call runs for; undefined when nobody can be asked there. At once. */
  clientOf(tenantId: string, invocationId: string): AskedClient | undefined;
}
