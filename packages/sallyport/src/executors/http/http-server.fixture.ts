import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, systemClock } from '@sallyport/std/clock';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { createEgressGuard } from '../../external/egress-guard.ts';
import { type ConnectionBounds, createOutboundHttp } from '../../external/outbound-http.ts';
import type { HttpOperation } from '../../registry/http-operation.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import type { Executor, ExecutorCall } from '../executor.port.ts';
import { createHttpExecutor } from './http-executor.ts';

/** A request that the service received. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** An HTTP service on a free port of this machine. */
export interface TestService extends AsyncDisposable {
  readonly port: number;
  readonly seen: SeenRequest[];
  /** Answers the next requests; by default with 200 and an empty JSON object. */
  answer: (request: SeenRequest, response: ServerResponse) => void;
  readonly sockets: Set<Socket>;
}

export async function startService(): Promise<TestService> {
  const sockets = new Set<Socket>();
  const listener: RequestListener = async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = incoming;
    const request = { method, url, headers, body: Buffer.concat(chunks) };
    service.seen.push(request);
    service.answer(request, response);
  };
  const server = createServer(listener);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const service: TestService = {
    port: (server.address() as AddressInfo).port,
    seen: [],
    answer: (_request, response) => json(response, 200, {}),
    sockets,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return service;
}

/** An HTTP executor whose connections are its own; disposing closes them. */
export function openHttpExecutor(
  clock: Clock = systemClock,
  bounds: Partial<ConnectionBounds> = {},
): Executor & Disposable {
  const outbound = createOutboundHttp({ guard: createEgressGuard(), bounds });
  return { ...createHttpExecutor({ outbound, clock }), [Symbol.dispose]: () => outbound[Symbol.dispose]() };
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

/** A call of an operation of the service; the grant allows the service's address and every secret. */
export function httpCall(
  port: number,
  operation: Partial<HttpOperation>,
  parameters: Record<string, unknown> = {},
  more: Partial<ExecutorCall> = {},
  manifest: Partial<ToolManifest> = {},
): ExecutorCall {
  const config: HttpOperation = { base_url: `http://127.0.0.1:${port}`, method: 'GET', path: '/', ...operation };
  const credentials = (config.auth ?? []).map(({ secret }) => secret);
  return callOf(
    {
      executor: { kind: 'http', config: { ...config } },
      permissions: { network: [{ host: '127.0.0.1', port }], credentials },
      ...manifest,
    },
    parameters,
    more,
  );
}
