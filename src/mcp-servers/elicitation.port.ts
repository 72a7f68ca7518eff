/** What a server asks a person in the middle of a call. Everything in it is untrusted. */
export interface ElicitationRequest {
  readonly tenantId: string;
  readonly upstream: string;
  /**
   * Invocations on whose behalf it may ask: the one that it asks for where the protocol tells which (2026-07-28), else all
   * that run at this server now or were given up within the last minute, two thousand at most.
   */
  readonly invocationIds: readonly string[];
  /** `form`: values for `requestedSchema`; `url`: the person shall visit `url`. */
  readonly mode: 'form' | 'url';
  /** At most 4 000 characters. */
  readonly message: string;
  /** Flat JSON Schema of an object, as the server wrote it. */
  readonly requestedSchema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
}

/** What the person says. `content` fits the schema; absent for a URL. */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' };

/**
 * Puts a question of a server to a person. Answers late or never as it likes: `signal` is aborted when nobody waits for the
 * answer any more, since the call ended, the server took its question back, or the connection is gone. What it throws
 * counts as `cancel`.
 */
export type ElicitationDesk = (request: ElicitationRequest, signal: AbortSignal) => Promise<ElicitationAnswer>;
