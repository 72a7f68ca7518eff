// An MCP server over streamable HTTP, protocol 2026-07-28, whose resources can be watched. Only for tests.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const HEAD = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const RESULTS: Readonly<Record<string, object>> = {
  'server/discover': {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {}, resources: { subscribe: true } },
    serverInfo: { name: 'watched', version: '1.0.0' },
  },
  'tools/list': { tools: [{ name: 'who', inputSchema: { type: 'object' } }] },
  'resources/list': { resources: [{ uri: 'watched://a', name: 'a' }] },
  'resources/templates/list': { resourceTemplates: [] },
};

/** One that listens on the loopback. */
export interface WatchedHttpServer extends AsyncDisposable {
  readonly url: string;
  /** The resources that are subscribed to with an authorization. */
  subscribedWith(authorization: string): readonly string[];
  /** Says to the subscribers with an authorization that a resource changed. */
  update(authorization: string, uri: string): void;
}

interface Subscription {
  readonly id: unknown;
  readonly authorization: string;
  readonly uris: readonly string[];
  readonly response: ServerResponse;
}

export async function startWatchedHttpServer(): Promise<WatchedHttpServer> {
  const open = new Set<Subscription>();
  const send = ({ id, response }: Subscription, method: string, params: object): unknown => {
    const message = { jsonrpc: '2.0', method, params: { ...params, _meta: { [SUBSCRIPTION]: id } } };
    return response.write(`data: ${JSON.stringify(message)}\n\n`);
  };
  const server = createServer(async (request, response) => {
    const { id, method, params } = JSON.parse((await text(request)) || '{}');
    const result = RESULTS[method];
    if (result !== undefined) {
      const answer = { jsonrpc: '2.0', id, result: { ...HEAD, ...result } };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    } else if (method === 'subscriptions/listen') {
      const { resourceSubscriptions = [] } = params.notifications;
      const { authorization = '' } = request.headers;
      const subscription: Subscription = { id, authorization, uris: resourceSubscriptions, response };
      open.add(subscription);
      response.on('close', () => open.delete(subscription));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      send(subscription, 'notifications/subscriptions/acknowledged', { notifications: { resourceSubscriptions } });
    } else response.writeHead(202).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const of = (authorization: string): readonly Subscription[] =>
    [...open].filter((each) => each.authorization === authorization);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    subscribedWith: (authorization) => of(authorization).flatMap(({ uris }) => uris),
    update(authorization, uri) {
      for (const each of of(authorization))
        if (each.uris.includes(uri)) send(each, 'notifications/resources/updated', { uri });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
