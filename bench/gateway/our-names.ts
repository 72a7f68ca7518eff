import type { LoadSpan } from '../load/target.ts';

/** Names of our own targets: a door, and what is behind it. */
export const OURS = {
  mcp: 'MCP, stdio upstream',
  rest: 'REST, stdio upstream',
  mcpPure: 'MCP, stdio upstream declared pure',
  restPure: 'REST, stdio upstream declared pure',
  mcpNative: 'MCP, function in process',
  restNative: 'REST, function in process',
  alone: 'our pipeline alone',
} as const;

/** Ids of the tools behind the targets. */
export const TOOL = { upstream: 'bench__echo', pure: 'bench-echo-pure', native: 'bench-echo-native' } as const;

/** Name of the upstream; its tools' ids begin with it. */
export const UPSTREAM_NAME = 'bench';

/**
 * What the server program can be asked through IPC: to make calls itself, without a door, which it answers with a
 * `Load`; and what it holds after a collection, which it answers with a `Held`.
 */
export type OurQuestion =
  | { readonly asks: 'calls'; readonly callers: number; readonly span: LoadSpan }
  | { readonly asks: 'held' };

/** Memory that a process holds, in MB. */
export interface Held {
  /** Of the language's objects, their buffers included. */
  readonly heapMb: number;
  readonly residentMb: number;
}

/** What the server program says when it is ready. */
export interface OurListening {
  readonly url: string;
  readonly token: string;
}
