/** A question of a running call to the user at its client, as an MCP request. All text in it is foreign. */
export interface CallQuestion {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Open questions of one call, by key; no key is used twice for a call. */
export type CallQuestionsByKey = Readonly<Record<string, CallQuestion>>;
