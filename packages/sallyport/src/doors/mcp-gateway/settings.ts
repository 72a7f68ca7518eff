import { integer, oneOf, seconds } from '../../domain/settings/rows.ts';
import { defaultsOf, type ValuesOf } from '../../domain/settings/setting.ts';

/** The ways to show tools to a client. */
export const TOOLS_MODES = ['all', 'meta', 'auto'] as const;

/**
 * `all`: each tool with its schema. `meta`: three tools that find, describe and call the others. `auto`: as `all` for a
 * client with few tools, else as `meta`.
 */
export type ToolsMode = (typeof TOOLS_MODES)[number];

/** Settings of the MCP gateway. */
export const MCP_SETTINGS = {
  toolsMode: oneOf('mcp.tools', TOOLS_MODES, {
    default: 'all',
    sentence:
      'What MCP clients that do not choose are shown. all: every tool. meta: three tools that find, describe and call the others. auto: meta for who sees many.',
  }),
  autoToolsMax: integer('mcp.auto_tools_max', {
    unit: 'tools',
    minimum: 0,
    default: 100,
    sentence: 'Most tools that auto shows one by one.',
  }),
  elicitation: oneOf('approvals.elicitation', ['off', 'confirmations'], {
    default: 'confirmations',
    sentence:
      'Whether the user at an MCP client is asked to confirm calls there, where the client can; approvals always need an approver.',
  }),
  confirmationWaitMs: seconds('approvals.elicitation_wait_seconds', {
    timed: true,
    whole: true,
    minimum: 1,
    default: 300,
    sentence: 'Longest wait for that user; after it the call waits for an approver.',
  }),
};

/** Values of the gateway's settings. */
export interface McpSettings extends ValuesOf<typeof MCP_SETTINGS> {
  /** How long a list of tools is cached, in ms; a change ends it at once. */
  readonly toolListTtlMs: number;
  /** Results are shortened by settings or output filters, so that clients are shown `read_overflow`. */
  readonly listsOverflow: boolean;
  /** Most lists cached, one per token. */
  readonly toolListsMax: number;
  /** Most tools listed to one caller; further tools can be called, but are not listed. */
  readonly toolsMax: number;
  /** Tools on one page of tools/list. */
  readonly toolsPageSize: number;
  /** Changes of the tools within this time cause one notification, in ms. */
  readonly changesTogetherMs: number;
  /** Longest wait for the end of a confirmed call, in ms; the call itself continues. */
  readonly confirmedWaitMs: number;
  /**
   * Most waiting calls remembered, so that a repeated request finds its own; beyond that the holder's oldest is
   * forgotten.
   */
  readonly waitingCallsMax: number;
  /** Most waiting calls remembered for one agent and user of a tenant. */
  readonly waitingCallsPerHolderMax: number;
  /** Most waiting calls remembered for one tenant. */
  readonly waitingCallsPerTenantMax: number;
}

export const MCP_DEFAULTS: McpSettings = {
  ...defaultsOf(MCP_SETTINGS),
  listsOverflow: false,
  toolListTtlMs: 30_000,
  toolListsMax: 256,
  toolsMax: 10_000,
  toolsPageSize: 200,
  changesTogetherMs: 50,
  confirmedWaitMs: 300_000,
  waitingCallsMax: 10_000,
  waitingCallsPerHolderMax: 1_000,
  waitingCallsPerTenantMax: 5_000,
};
