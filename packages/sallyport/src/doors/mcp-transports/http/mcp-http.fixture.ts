import {
  Client,
  type ElicitRequest,
  type ElicitResult,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { fastify } from 'fastify';
import type { Gateway, GatewayParts } from '../../mcp-gateway/create-gateway.ts';
import type { McpSettings } from '../../mcp-gateway/settings.ts';
import { createLayerDouble, type LayerDouble } from '../../tool-layer.fixture.ts';
import { mountTestMcp, openTestGateway } from '../doors.fixture.ts';
import type { TransportSettings } from '../settings.ts';

/** Options of a test's client. */
export interface ClientOptions {
  readonly token?: string;
  readonly auto?: boolean;
  readonly tools?: string;
  readonly onListChanged?: () => void;
  /** Answers questions to the user; with it the client declares the capability `elicitation`. */
  readonly onElicit?: (params: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>;
}

/** A gateway on a free port, on a layer in memory. */
export interface McpServer {
  readonly layer: LayerDouble;
  readonly gateway: Gateway;
  readonly url: string;
  /** Connects a client of the official library. */
  client(options?: ClientOptions): Promise<Client>;
  /** Sends a POST request with the usual headers. */
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

export async function startMcpServer(
  settings: Partial<McpSettings & TransportSettings> = {},
  parts: Partial<Pick<GatewayParts, 'confirmations' | 'stateKey' | 'log' | 'signalOf'>> = {},
): Promise<McpServer> {
  const layer = createLayerDouble();
  const app = fastify({ forceCloseConnections: true });
  const gateway = openTestGateway(layer, { settings, ...parts });
  mountTestMcp(app, { path: '/mcp', serverOf: gateway.serverOf, settings });
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`;
  const clients: Client[] = [];
  return {
    layer,
    gateway,
    url,
    client: async ({ token = 'agent', auto = false, tools, onListChanged, onElicit } = {}) => {
      const client = new Client(
        { name: 'test', version: '1.0.0' },
        {
          ...(auto ? { versionNegotiation: { mode: 'auto' as const } } : {}),
          ...(onElicit === undefined ? {} : { capabilities: { elicitation: { form: {}, url: {} } } }),
          ...(onListChanged === undefined
            ? {}
            : { listChanged: { tools: { onChanged: onListChanged, autoRefresh: false, debounceMs: 0 } } }),
        },
      );
      if (onElicit !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => onElicit(params));
      clients.push(client);
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      const address = tools === undefined ? url : `${url}?tools=${tools}`;
      await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit }));
      return client;
    },
    post: (body, headers = {}) =>
      fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: 'Bearer agent',
          ...headers,
        },
        body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
      }),
    close: async () => {
      for (const client of clients) await client.close();
      await app.close();
      gateway.close();
    },
  };
}
