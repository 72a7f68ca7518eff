/** How a client is shown the tools. */
export const TOOLS_MODES = ['all', 'meta', 'auto'] as const;

/**
 * `all`: each tool with its schema. `meta`: three tools that find, describe and call the others. `auto`: as `all` while
 * the client sees few tools, as `meta` beyond.
 */
export type ToolsMode = (typeof TOOLS_MODES)[number];

/** What can be set of the MCP gateway. */
export interface McpSettings {
  /** For clients that do not choose. */
  readonly toolsMode: ToolsMode;
  /** In the mode `auto`: most tools shown one by one; with more, the meta-tools are shown. */
  readonly autoToolsMax: number;
  /** How long a list of tools is served before the layer is asked again, in ms; a change ends it at once. */
  readonly toolListTtlMs: number;
  /** Most lists kept, one per token. */
  readonly toolListsMax: number;
  /** Most tools listed to one caller; further ones can be called, not listed. */
  readonly toolsMax: number;
  /** Tools on one page of tools/list. */
  readonly toolsPageSize: number;
  /** Changes of the tools within this time are told once, in ms. */
  readonly changesTogetherMs: number;
  /** Whether the user at the client is asked to confirm a call; never for what needs an approver. */
  readonly elicitation: 'off' | 'confirmations';
  /** Longest wait for that user, in ms; the call goes on waiting after it. */
  readonly confirmationWaitMs: number;
  /** Longest wait for the end of a call that was confirmed, in ms; the call goes on after it. */
  readonly confirmedWaitMs: number;
  /** Waiting calls that are remembered, so that a repeated request finds its own; beyond it the holder's oldest is forgotten. */
  readonly waitingCallsMax: number;
  /** The same for one agent and user of a tenant. */
  readonly waitingCallsPerHolderMax: number;
  /** The same for one tenant. */
  readonly waitingCallsPerTenantMax: number;
}

export const MCP_DEFAULTS: McpSettings = {
  toolsMode: 'all',
  autoToolsMax: 100,
  toolListTtlMs: 30_000,
  toolListsMax: 256,
  toolsMax: 10_000,
  toolsPageSize: 200,
  changesTogetherMs: 50,
  elicitation: 'confirmations',
  confirmationWaitMs: 300_000,
  confirmedWaitMs: 300_000,
  waitingCallsMax: 10_000,
  waitingCallsPerHolderMax: 1_000,
  waitingCallsPerTenantMax: 5_000,
};
