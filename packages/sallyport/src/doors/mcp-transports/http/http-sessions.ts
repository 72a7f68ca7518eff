import { isObject } from '../../../domain/shape/is-object.ts';
import {
  ID_IN_USE,
  notificationText,
  type Params,
  RPC,
  type RpcId,
  type RpcRequest,
  type RpcResponse,
} from '../../json-rpc.ts';
import { isLegacyVersion, isModernVersion, SESSION_WISH } from '../../mcp-protocol.ts';
import type { AskClient, McpServer } from '../../mcp-server.ts';
import type { Endpoint } from './endpoint.ts';
import { type HttpExchange, refuseFull } from './http-exchange.ts';
import type { Session } from './sessions.ts';
import type { StreamPlace } from './streams.ts';

/** Answers a request of a session, or the handshake that opens a session. */
export async function answerLegacy(
  request: RpcRequest,
  server: McpServer,
  exchange: HttpExchange,
  endpoint: Endpoint,
): Promise<void> {
  if (request.method === 'initialize') {
    await openSession(request, server, exchange, endpoint);
    return;
  }
  const session = await sessionOf(exchange, endpoint, request.id, isKnownToken);
  if (session === undefined) return;
  const { caller, gone } = exchange;
  if (session.running.has(request.id)) {
    exchange.refuse(400, RPC.invalidRequest, ID_IN_USE, request.id);
    return;
  }
  // Streams cannot be resumed: a client that leaves cannot get the answer, so its call ends too.
  session.running.set(request.id, gone);
  try {
    const notify = (text: string): void => void exchange.stream().send(text);
    const { watch, can } = session;
    const ask = askOver(session, exchange, endpoint);
    exchange.answer(
      await server.answer(request, { era: 'legacy', caller, signal: gone.signal, notify, watch, can, ask }),
    );
  } finally {
    session.running.delete(request.id);
  }
}

/** Questions are sent on the stream of the request that they belong to (2025-11-25, streamable HTTP). */
function askOver(session: Session, exchange: HttpExchange, { settings }: Endpoint): AskClient {
  return async (method, params, signal) => {
    const stream = exchange.stream();
    // People are slow to answer: no proxy may take the stream for dead.
    const alive = setInterval(() => stream.keepAlive(), settings.keepAliveMs);
    try {
      const until = AbortSignal.any([signal, exchange.gone.signal]);
      return await session.questions.ask(method, params, stream.send, until);
    } finally {
      clearInterval(alive);
    }
  };
}

async function openSession(
  request: RpcRequest,
  server: McpServer,
  exchange: HttpExchange,
  endpoint: Endpoint,
): Promise<void> {
  const { caller, gone } = exchange;
  const answer = await server.answer(request, { era: 'legacy', caller, signal: gone.signal, notify: () => {} });
  if (answer.failed === true) {
    exchange.answer(answer);
    return;
  }
  const { capabilities } = request.params;
  const can = isObject(capabilities) ? capabilities : {};
  const of = { path: pathOf(exchange), holder: await server.holderOf(caller), token: caller.token, can };
  try {
    const session = await endpoint.sessions.create(of, (send) =>
      server.watch(SESSION_WISH, caller, (method, params) => send(notificationText(method, params))),
    );
    exchange.answer(answer, ['mcp-session-id', session.id]);
  } catch (thrown) {
    refuseFull(thrown, exchange, request.id);
  }
}

/** Takes a notification; only a cancellation has an effect here. */
export async function notifyLegacy(
  method: string,
  params: Params,
  exchange: HttpExchange,
  endpoint: Endpoint,
): Promise<void> {
  if (isModernVersion(exchange.headers['mcp-protocol-version'])) {
    // 2026-07-28 defines none over HTTP: closing the connection cancels.
    exchange.empty(202);
    return;
  }
  const session = await sessionOf(exchange, endpoint, null);
  if (session === undefined) return;
  if (method === 'notifications/cancelled') session.running.get(params['requestId'] as RpcId)?.abort();
  exchange.empty(202);
}

/** Takes a client's answer to a question of its session; without a session there are no questions. */
export async function takeAnswer(answer: RpcResponse, exchange: HttpExchange, endpoint: Endpoint): Promise<void> {
  if (exchange.headers['mcp-session-id'] !== undefined) {
    const session = await sessionOf(exchange, endpoint, null);
    if (session === undefined) return;
    session.questions.take(answer);
  }
  exchange.empty(202);
}

/**
 * GET: opens the session's stream of changes, and ends an earlier one: a client whose connection was cut off asks for
 * another stream long before anybody notices here that the first one is dead.
 */
export async function openSessionStream(exchange: HttpExchange, endpoint: Endpoint): Promise<void> {
  if (exchange.headers.accept?.includes('text/event-stream') !== true) {
    exchange.refuse(406, RPC.invalidRequest, 'The header Accept must list text/event-stream.');
    return;
  }
  const session = await sessionOf(exchange, endpoint, null);
  if (session === undefined) return;
  const refused = await endpoint.serverOf(exchange.request).refuseCaller(null, exchange.caller);
  if (refused !== undefined) exchange.answer(refused);
  else await keepSessionStream(session, exchange, endpoint);
}

async function keepSessionStream(session: Session, exchange: HttpExchange, endpoint: Endpoint): Promise<void> {
  let place: StreamPlace;
  try {
    place = endpoint.streams.take(session.holder);
  } catch (thrown) {
    refuseFull(thrown, exchange, null);
    return;
  }
  const deafen = (): void => {
    session.stream = undefined;
    void session.watch.listen(undefined);
  };
  try {
    // Listens before the head of the stream is sent, so that no change after it is missed.
    await session.watch.listen(exchange.caller);
  } catch (thrown) {
    place[Symbol.dispose]();
    session.stream?.end();
    deafen();
    throw thrown;
  }
  const stream = exchange.stream();
  const before = session.stream;
  session.stream = stream;
  before?.end();
  const { caller, request } = exchange;
  const server = endpoint.serverOf(request);
  place.keep(
    stream,
    () => server.holderOf(caller),
    () => (session.stream === stream ? deafen() : undefined),
  );
  // The session may have ended meanwhile; its stream then ends too.
  if (endpoint.sessions.find(session.id) === undefined) stream.end();
}

/** DELETE: ends the session. */
export async function endSession(exchange: HttpExchange, endpoint: Endpoint): Promise<void> {
  const session = await sessionOf(exchange, endpoint, null);
  if (session === undefined) return;
  endpoint.sessions.end(session.id);
  exchange.empty(204);
}

/** The session that the request names, when the caller holds it; undefined when the request was refused instead. */
async function sessionOf(
  exchange: HttpExchange,
  endpoint: Endpoint,
  id: RpcId | null,
  isWhose: typeof isHolder = isHolder,
): Promise<Session | undefined> {
  const { 'mcp-session-id': named, 'mcp-protocol-version': version } = exchange.headers;
  if (version !== undefined && !isLegacyVersion(version)) {
    const message = `Protocol version ${String(version).slice(0, 40)} is not spoken in sessions here.`;
    exchange.refuse(400, RPC.invalidRequest, message, id);
    return undefined;
  }
  if (typeof named !== 'string') {
    exchange.refuse(400, RPC.invalidRequest, 'The header Mcp-Session-Id is missing. Send initialize first.', id);
    return undefined;
  }
  const { sessions } = endpoint;
  const session = sessions.find(named);
  try {
    if (session?.path === pathOf(exchange) && (await isWhose(session, exchange, endpoint))) {
      sessions.touch(session);
      return session;
    }
  } catch (thrown) {
    exchange.answer(endpoint.serverOf(exchange.request).explain(id, thrown));
    return undefined;
  }
  // Sessions of others are not revealed, not even their existence.
  exchange.refuse(404, RPC.invalidRequest, 'This session has ended. Send initialize.', id);
  return undefined;
}

/** Without the query, which may differ between requests of one session. */
function pathOf({ request }: HttpExchange): string {
  return request.url?.split('?', 1)[0] ?? '';
}

/** True when the caller opened the session, with the same token or another one of the same holder. */
async function isHolder(session: Session, { caller, request }: HttpExchange, { serverOf }: Endpoint): Promise<boolean> {
  if ((await serverOf(request).holderOf(caller)).name !== session.holder.name) return false;
  session.token = caller.token;
  return true;
}

/** As above, for requests whose own answer verifies the token: a token that the session knows is not verified twice. */
async function isKnownToken(session: Session, exchange: HttpExchange, endpoint: Endpoint): Promise<boolean> {
  return exchange.caller.token === session.token || isHolder(session, exchange, endpoint);
}
