import { MiB } from '../../std/bytes.ts';

/** What can be set of the MCP gateway. */
export interface McpSettings {
  /** Largest message, in bytes. */
  readonly messageBytesMax: number;
  /** How long a list of tools is served before the layer is asked again, in ms; a change ends it at once. */
  readonly toolListTtlMs: number;
  /** Most lists kept, one per token. */
  readonly toolListsMax: number;
  /** Most tools listed to one caller; further ones can be called, not listed. */
  readonly toolsMax: number;
  /** Tools on one page of tools/list. */
  readonly toolsPageSize: number;
  /** Most sessions of the 2025 era; beyond it the one that is idle longest ends. */
  readonly sessionsMax: number;
  /** After this idle time a session may be ended to make room, in ms. */
  readonly sessionIdleMs: number;
  /** Most open notification streams. */
  readonly streamsMax: number;
  /** Time between comments that keep an idle stream open, in ms. */
  readonly keepAliveMs: number;
  /** Changes of the tools within this time are told once, in ms. */
  readonly changesTogetherMs: number;
  /** Most requests of one stdio connection that run at once; further ones wait unread. */
  readonly requestsMax: number;
  /** How long running requests may go on once a stdio client has closed its end, in ms. */
  readonly closeGraceMs: number;
}

export const MCP_DEFAULTS: McpSettings = {
  messageBytesMax: 1 * MiB,
  toolListTtlMs: 30_000,
  toolListsMax: 256,
  toolsMax: 10_000,
  toolsPageSize: 200,
  sessionsMax: 10_000,
  sessionIdleMs: 3_600_000,
  streamsMax: 1_000,
  keepAliveMs: 25_000,
  changesTogetherMs: 50,
  requestsMax: 256,
  closeGraceMs: 5_000,
};
