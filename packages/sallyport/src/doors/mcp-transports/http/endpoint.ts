import type { IncomingMessage } from 'node:http';
import type { Log } from '../../../telemetry/log.ts';
import type { McpServer } from '../../mcp-server.ts';
import type { ProtectedResource } from '../../protected-resource.ts';
import type { BodyBudget } from '../../request-body.ts';
import type { TransportSettings } from '../settings.ts';
import type { Sessions } from './sessions.ts';
import type { Streams } from './streams.ts';

/** Parts shared by all requests to one MCP endpoint over HTTP. */
export interface Endpoint {
  /** The server for a request; throws ToolLayerError E3801 when the request names an unknown one. */
  readonly serverOf: (request: IncomingMessage) => McpServer;
  /** Path of its address. */
  readonly path: string;
  readonly resource: ProtectedResource;
  readonly log: Log;
  readonly settings: TransportSettings;
  /** Room for the bodies of requests, shared with the other doors of the address. */
  readonly bodies: BodyBudget;
  readonly sessions: Sessions;
  readonly streams: Streams;
}
