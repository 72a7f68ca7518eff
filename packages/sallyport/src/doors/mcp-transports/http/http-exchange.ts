import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Caller } from '../../../domain/principal/principal.ts';
import { callerCredential } from '../../bearer.ts';
import { requestEnd, STREAM_HEADERS, send } from '../../http-answer.ts';
import { errorAnswer, RPC, type RpcAnswer, type RpcId } from '../../json-rpc.ts';
import { addressedServer, pathOfServer } from '../../server-address.ts';
import type { Endpoint } from './endpoint.ts';
import { CLOSED_STREAM, type EventStream, openEventStream } from './event-stream.ts';

/** One HTTP request and its answer: JSON, or an event stream once something must be sent before the answer. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
  /** Aborted when the client leaves, or the door stops, before the answer. */
  readonly gone: AbortController;
  /** Turns the answer into an event stream; later calls return the same stream. */
  stream(): EventStream;
  /** Answers; on the stream when there is one. `headers` alternates names and values. */
  answer(answer: RpcAnswer, headers?: readonly string[]): void;
  /** Answers with a JSON-RPC error about the HTTP request itself. */
  refuse(status: number, code: number, message: string, id?: RpcId | null, headers?: readonly string[]): void;
  /** Answers without a body. */
  empty(status: number): void;
}

export function createHttpExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { resource, path }: Pick<Endpoint, 'resource' | 'path'>,
): HttpExchange {
  const { headers } = request;
  const server = addressedServer(request.url);
  const gone = requestEnd(response);
  let stream: EventStream | undefined;
  let isAnswered = false;

  const answer: HttpExchange['answer'] = ({ text, http = 200, challenge }, more = []) => {
    isAnswered = true;
    if (stream !== undefined) stream.end(text);
    else {
      const at = server === undefined ? path : pathOfServer(server);
      const asked =
        challenge === undefined ? more : [...more, 'www-authenticate', resource.challenge(request, at, challenge)];
      send(response, http, 'application/json', text, asked);
    }
  };
  return {
    request,
    headers,
    gone,
    caller: callerOf(request, server),
    stream: () => {
      // What a tool sends after its end has nowhere to go.
      if (stream === undefined && isAnswered) return CLOSED_STREAM;
      stream ??= openEventStream(response);
      return stream;
    },
    answer,
    refuse: (status, code, message, id = null, more) => answer(errorAnswer(id, code, message, undefined, status), more),
    empty: (status) => {
      if (!response.headersSent) response.writeHead(status, ['content-length', '0', ...STREAM_HEADERS]).end();
    },
  };
}

function callerOf(request: IncomingMessage, server: string | undefined): Caller {
  const { traceparent } = request.headers;
  return {
    door: 'mcp',
    ...callerCredential(request),
    ...(server === undefined ? {} : { server }),
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
  };
}

/** Refuses a request for lack of room (E3803); rethrows anything else. */
export function refuseFull(thrown: unknown, exchange: HttpExchange, id: RpcId | null): void {
  const { code, message } = failureOf(thrown);
  if (code !== 'E3803') throw thrown;
  exchange.refuse(503, RPC.internalError, message, id);
}
