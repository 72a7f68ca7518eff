import type { Gateway } from '../create-gateway.ts';
import type { Sessions } from './sessions.ts';
import type { Streams } from './streams.ts';

/** What all requests to one MCP endpoint over HTTP have in common. */
export interface Endpoint {
  readonly gateway: Gateway;
  readonly sessions: Sessions;
  readonly streams: Streams;
}
