import type { RpcRequest } from '../../json-rpc.ts';
import type { McpServer } from '../../mcp-server.ts';
import { clientCapabilities, refuseEnvelope, refuseHeaders } from '../modern-envelope.ts';
import { openSubscription, subscriptionEnding } from '../subscriptions.ts';
import type { Endpoint } from './endpoint.ts';
import { type HttpExchange, refuseFull } from './http-exchange.ts';
import type { StreamPlace } from './streams.ts';

/** Answers a self-contained request (2026-07-28); closing its connection ends it. */
export async function answerModern(
  request: RpcRequest,
  server: McpServer,
  exchange: HttpExchange,
  endpoint: Endpoint,
): Promise<void> {
  const refused = refuseEnvelope(request, exchange.headers) ?? refuseHeaders(request, exchange.headers);
  if (refused !== undefined) {
    exchange.answer(refused);
    return;
  }
  if (request.method === 'subscriptions/listen') {
    await listen(request, server, exchange, endpoint);
    return;
  }
  const { caller, gone } = exchange;
  const notify = (text: string): void => void exchange.stream().send(text);
  const can = clientCapabilities(request);
  exchange.answer(await server.answer(request, { era: 'modern', caller, signal: gone.signal, notify, can }));
}

async function listen(
  request: RpcRequest,
  server: McpServer,
  exchange: HttpExchange,
  { streams }: Endpoint,
): Promise<void> {
  const { caller } = exchange;
  const refused = await server.refuseCaller(request.id, caller);
  if (refused !== undefined) {
    exchange.answer(refused);
    return;
  }
  const holder = await server.holderOf(caller);
  let place: StreamPlace;
  try {
    place = streams.take(holder);
  } catch (thrown) {
    refuseFull(thrown, exchange, request.id);
    return;
  }
  try {
    const stream = exchange.stream();
    const { watch, begin } = await openSubscription(server, request, caller, (text) => void stream.send(text));
    const release = (): void => watch[Symbol.dispose]();
    place.keep(stream, () => server.holderOf(caller), release, subscriptionEnding(request));
    await begin(caller);
  } catch (thrown) {
    place[Symbol.dispose]();
    throw thrown;
  }
}
