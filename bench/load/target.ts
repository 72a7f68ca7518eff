/** How calls are made: one JSON request each, MCP over streamable HTTP, or MCP over the older HTTP+SSE. */
export type Conversation = 'json' | 'mcp' | 'mcp-sse';

/** A server to call, and what to say to it. The number of the call stands wherever `CALL_NUMBER` does. */
export interface Target {
  readonly port: number;
  readonly path: string;
  readonly conversation: Conversation;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON of each request; for MCP the params of tools/call. */
  readonly request: string;
  /** Text that every right answer holds. */
  readonly expected: string;
}

/** Each call has arguments of its own, so that nobody can answer from a cache. */
export const CALL_NUMBER = '#NUMBER#';

/** How long callers call: for a time, or until so many calls are made if that comes first. */
export interface LoadSpan {
  readonly ms: number;
  readonly calls?: number;
}

/** Orders to the load generator. */
export type LoadCommand =
  | { readonly order: 'open'; readonly target: Target; readonly callers: number }
  | { readonly order: 'hold'; readonly target: Target; readonly streams: number }
  | { readonly order: 'run'; readonly id: number; readonly callers: number; readonly span: LoadSpan };

/** What the load generator says. */
export type LoadMessage =
  | { readonly says: 'opened'; readonly id: number }
  | { readonly says: 'held' }
  | { readonly says: 'began' }
  | { readonly says: 'finished'; readonly load: Load }
  | { readonly says: 'failed'; readonly reason: string };

/** One round of calls as their callers saw it. */
export interface Load {
  readonly calls: number;
  readonly failed: number;
  readonly firstFailure?: string;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}
