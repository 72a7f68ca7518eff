/** Names of our own targets: a door, and what is behind it. */
export const OURS = {
  mcp: 'MCP, stdio upstream',
  rest: 'REST, stdio upstream',
  mcpPure: 'MCP, stdio upstream declared pure',
  restPure: 'REST, stdio upstream declared pure',
  mcpNative: 'MCP, function in process',
  restNative: 'REST, function in process',
} as const;

/** Ids of the tools behind the targets. */
export const TOOL = { upstream: 'bench__echo', pure: 'bench-echo-pure', native: 'bench-echo-native' } as const;

/** Name of the upstream; its tools' ids begin with it. */
export const UPSTREAM_NAME = 'bench';

/** What the server program says when it is ready. */
export interface OurListening {
  readonly url: string;
  readonly token: string;
}
