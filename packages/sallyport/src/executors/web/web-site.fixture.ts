import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '@sallyport/std/clock';
import { defaultsOf } from '../../domain/settings/setting.ts';
import { createEgressGuard, type EgressGuard, type EgressGuardParts } from '../../external/egress-guard.ts';
import { createOutboundHttp } from '../../external/outbound-http.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import type { Executor, ExecutorCall } from '../executor.port.ts';
import { WEB_SETTINGS, type WebBounds, type WebSettings } from './settings.ts';
import { createWebExecutor } from './web-executor.ts';

/** An HTTP site on a free port of this machine; it answers under every host name. */
export interface TestSite extends AsyncDisposable {
  readonly port: number;
  readonly seen: { readonly host: string; readonly url: string; readonly headers: IncomingMessage['headers'] }[];
  /** Answers by path; other paths get 404, robots.txt too unless it is set. */
  readonly pages: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  readonly sockets: Set<Socket>;
  url(path: string, host?: string): string;
}

export const NAME = 'site.example.com';

export async function startSite(): Promise<TestSite> {
  const sockets = new Set<Socket>();
  const seen: TestSite['seen'] = [];
  const pages: TestSite['pages'] = new Map();
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    seen.push({ host: headers.host ?? '', url, headers });
    const page = pages.get(url);
    if (page === undefined) response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here');
    else page(request, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    seen,
    pages,
    sockets,
    url: (path, host = NAME) => `http://${host}:${port}${path}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers with a page of HTML. */
export const html =
  (body: string, headers: Record<string, string> = {}, status = 200) =>
  (_request: IncomingMessage, response: ServerResponse): void =>
    void response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);

/** A guard for which every name resolves to this machine, and whose policy allows that address. */
export function localGuard(more: EgressGuardParts = {}): EgressGuard {
  return createEgressGuard({
    resolveHost: async () => [{ address: '127.0.0.1', family: 4 }],
    policy: { allowedAddresses: ['127.0.0.1'] },
    ...more,
  });
}

/** Parts of a web executor that a test gives in place of the usual ones. */
export interface LocalParts {
  readonly guard?: EgressGuard;
  readonly settings?: Partial<WebSettings>;
  readonly bounds?: Partial<WebBounds>;
}

/** A web executor that reaches this machine, over connections of its own; disposing closes them. */
export function localExecutor(
  clock: Clock,
  { guard = localGuard(), settings, bounds = {} }: LocalParts = {},
): Executor & AsyncDisposable {
  const outbound = createOutboundHttp({ guard });
  const executor = createWebExecutor({
    ...{ outbound, bounds, clock },
    settings: { ...defaultsOf(WEB_SETTINGS), ...settings },
  });
  return {
    ...executor,
    async [Symbol.asyncDispose]() {
      outbound[Symbol.dispose]();
      await executor[Symbol.asyncDispose]();
    },
  };
}

/** A call of `web_fetch`; the grant allows every public host at any port. */
export function webCall(
  parameters: Record<string, unknown>,
  more: Partial<ExecutorCall> = {},
  network: { host: string; port: number }[] = [{ host: '*', port: 0 }],
): ExecutorCall {
  return callOf(
    { executor: { kind: 'web', config: { operation: 'fetch' } }, permissions: { network } },
    parameters,
    more,
  );
}
