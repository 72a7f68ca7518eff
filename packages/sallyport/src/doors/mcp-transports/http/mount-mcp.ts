import type { IncomingMessage, ServerResponse } from 'node:http';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { FastifyInstance } from 'fastify';
import { classify, RPC, type RpcMessage } from '../../json-rpc.ts';
import { ARGUMENTS } from '../../mcp-protocol.ts';
import type { McpServer } from '../../mcp-server.ts';
import { readBody } from '../../request-body.ts';
import { readWireJson } from '../../wire-json.ts';
import { isModern } from '../modern-envelope.ts';
import { TRANSPORT_DEFAULTS, type TransportSettings } from '../settings.ts';
import type { Endpoint } from './endpoint.ts';
import { createHttpExchange, type HttpExchange } from './http-exchange.ts';
import { answerLegacy, endSession, notifyLegacy, openSessionStream, takeAnswer } from './http-sessions.ts';
import { answerModern } from './http-stateless.ts';
import { createSessions } from './sessions.ts';
import { createStreams } from './streams.ts';

/** Parts of an MCP endpoint over HTTP. */
export interface McpEndpoint extends Pick<Endpoint, 'serverOf' | 'log' | 'resource' | 'bodies'> {
  /** Path of the address; `serverOf` reads the query. */
  readonly path: string;
  /** Route below the path whose requests are answered too; `serverOf` reads the rest of their path. */
  readonly below?: string;
  readonly settings?: Partial<TransportSettings>;
  /** Takes this endpoint's POST requests outside the framework; absent: all pass through the framework. */
  readonly direct?: DirectPosts;
  /** Calls back when the server stops taking new requests: notification streams end then, running requests continue. */
  readonly onStop: (listener: () => void) => void;
}

/** Takes the POST requests of one path. */
interface DirectPosts {
  add(path: string, answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>): void;
}

/**
 * Adds an MCP endpoint to an HTTP server, for both eras. The server checks `Host` and `Origin`. Closing the server ends
 * every stream and session; the owner of the MCP server closes the MCP server.
 */
export function mountMcp(
  app: FastifyInstance,
  { path, below, settings: given, direct, onStop, ...parts }: McpEndpoint,
): void {
  const settings = { ...TRANSPORT_DEFAULTS, ...given };
  const endpoint = {
    ...parts,
    path,
    settings,
    sessions: createSessions(settings),
    streams: createStreams(settings),
  };
  onStop(endpoint.streams.close);
  app.addHook('preClose', (done) => {
    endpoint.streams.close();
    endpoint.sessions.endAll();
    done();
  });
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The body is read below, with its own limit and its own errors.
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    for (const url of below === undefined ? [path] : [path, path + below]) {
      addRoute(scope, url, 'POST', endpoint, answerPost);
      addRoute(scope, url, 'GET', endpoint, openSessionStream);
      addRoute(scope, url, 'DELETE', endpoint, endSession);
    }
    done();
  });
  direct?.add(path, (request, response) => respond(request, response, endpoint, answerPost));
}

type Answer = (exchange: HttpExchange, endpoint: Endpoint) => Promise<void> | void;

function addRoute(scope: FastifyInstance, url: string, method: string, endpoint: Endpoint, answer: Answer): void {
  scope.route({
    method,
    url,
    exposeHeadRoute: false,
    handler: (request, reply) => {
      reply.hijack();
      return respond(request.raw, reply.raw, endpoint, answer);
    },
  });
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  endpoint: Endpoint,
  answer: Answer,
): Promise<void> {
  const exchange = createHttpExchange(request, response, endpoint);
  try {
    await answer(exchange, endpoint);
  } catch (thrown) {
    refuseThrown(thrown, exchange, endpoint);
  }
}

/** Naming an unknown server is the client's fault; any other failure is ours. */
function refuseThrown(thrown: unknown, exchange: HttpExchange, { log }: Endpoint): void {
  const { code, message } = failureOf(thrown);
  if (code === 'E3801') {
    exchange.refuse(400, RPC.invalidRequest, message);
    return;
  }
  log.error('mcp-request-failed', { cause: thrown });
  exchange.refuse(500, RPC.internalError, message);
}

async function answerPost(exchange: HttpExchange, endpoint: Endpoint): Promise<void> {
  const server = endpoint.serverOf(exchange.request);
  const message = await readMessage(exchange, server, endpoint);
  if (message === undefined) return;
  switch (message.kind) {
    case 'invalid':
      exchange.refuse(400, RPC.invalidRequest, message.message, message.id);
      break;
    case 'request':
      await (isModern(message, exchange.headers) ? answerModern : answerLegacy)(message, server, exchange, endpoint);
      break;
    case 'notification':
      await notifyLegacy(message.method, message.params, exchange, endpoint);
      break;
    case 'response':
      await takeAnswer(message, exchange, endpoint);
  }
}

/** The message in the body; undefined when the request was refused instead. */
async function readMessage(
  exchange: HttpExchange,
  server: McpServer,
  { settings, bodies }: Endpoint,
): Promise<RpcMessage | undefined> {
  const { headers, request } = exchange;
  if (!acceptsBoth(headers.accept)) {
    exchange.refuse(406, RPC.invalidRequest, 'The header Accept must list application/json and text/event-stream.');
    return undefined;
  }
  if (!isJson(headers['content-type'])) {
    exchange.refuse(415, RPC.invalidRequest, 'The content type must be application/json.');
    return undefined;
  }
  let bytes: Buffer;
  try {
    const admit = () => server.holderOf(exchange.caller);
    bytes = await readBody(request, { bytesMax: settings.messageBytesMax, budget: bodies, admit });
  } catch (thrown) {
    refuseBody(thrown, exchange, server);
    return undefined;
  }
  const read = readWireJson(bytes, ARGUMENTS);
  if (read.ok) return classify(read.value);
  const unreadable = read.refusal === 'syntax' || read.refusal === 'encoding';
  exchange.refuse(400, unreadable ? RPC.parseError : RPC.invalidRequest, read.failure.message);
  return undefined;
}

/** Answers a body that is too large, that ended too early, or whose sender has no valid credential. */
function refuseBody(thrown: unknown, exchange: HttpExchange, server: McpServer): void {
  const { code, message, retryAfterMs } = failureOf(thrown);
  if (code === 'E3801' || code === 'E3810') {
    exchange.refuse(code === 'E3810' ? 413 : 400, RPC.invalidRequest, message);
  } else if (code === 'E3803') {
    const after = String(Math.ceil((retryAfterMs ?? 1_000) / 1_000));
    exchange.refuse(503, RPC.internalError, message, null, ['retry-after', after]);
  } else exchange.answer(server.explain(null, thrown));
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

/** Clients must accept both forms of an answer; a request without `Accept` accepts anything (RFC 9110 §12.5.1). */
function acceptsBoth(accept: string | undefined): boolean {
  if (accept === undefined || accept.includes('*/*')) return true;
  const types = accept.toLowerCase();
  return (
    (types.includes('application/json') || types.includes('application/*')) &&
    (types.includes('text/event-stream') || types.includes('text/*'))
  );
}
