import {
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../domain/shape/is-object.ts';
import { TASK_NAME_HEADER } from '../connection/tasks/task-form.ts';
import type { HttpFetch } from './bounded-fetch.ts';

/** A transport over HTTP, not started yet, and the differences between such transports. */
export interface HttpWay {
  readonly transport: Transport;
  /** True when its servers know no protocol of 2026. */
  readonly isOlder: boolean;
  /** Notifies the server that the session is over. */
  terminate(): Promise<void>;
  /** Calls the listener once when the connection is lost, even when it was lost before. */
  onLost(listener: () => void): void;
  /** Converts an error of the start into the form that `httpFailure` reads. */
  faultOf(thrown: unknown): unknown;
}

/** @param headers sent with each request @param carry sends the request */
export type MakeWay = (url: URL, headers: Readonly<Record<string, string>>, carry: HttpFetch) => HttpWay;

/** Streamable HTTP. */
export const streamableWay: MakeWay = (url, headers, carry) => {
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers, redirect: 'error' },
    fetch: withRefusals(withTaskName(carry)),
  });
  return {
    transport,
    isOlder: false,
    terminate: () => transport.terminateSession(),
    // Each request has a stream of its own.
    onLost: () => {},
    faultOf: (thrown) => thrown,
  };
};

/** Statuses whose `Retry-After` counts. */
const isBusy = (status: number): boolean => status === 429 || status >= 500;

/**
 * Fails where the library would drop the server's `Retry-After`, and where it would wait in vain: for the answer to a
 * request that was only accepted (202), from a server without a stream of its own on which it could still come.
 */
function withRefusals(carry: HttpFetch): HttpFetch {
  let hasStream = Promise.resolve(false);
  return async (url, init) => {
    const sent = carry(url, init);
    if (init?.method === 'GET')
      hasStream = sent.then(
        ({ ok }) => ok,
        () => false,
      );
    const response = await sent;
    if (init?.method !== 'POST') return response;
    if (isBusy(response.status) && response.headers.has('retry-after')) throw await statusError(response);
    if (response.status === 202 && isRequest(init.body) && !(await hasStream)) throw unanswered();
    return response;
  };
}

function isRequest(body: unknown): boolean {
  const message: unknown = JSON.parse(String(body));
  return isObject(message) && 'id' in message && 'method' in message;
}

const unanswered = (): ToolLayerError =>
  new ToolLayerError(
    'E3308',
    'The upstream accepted the request (HTTP 202), and has no stream on which it would answer.',
    {
      details: { reached: true, status: 202 },
    },
  );

/** The library keeps `Mcp-Name` to itself, and does not know that it names the task in a request about one. */
function withTaskName(carry: HttpFetch): HttpFetch {
  return (url, init) => {
    const headers = new Headers(init?.headers);
    const task = headers.get(TASK_NAME_HEADER);
    // Fast path: a request about something else.
    if (task === null) return carry(url, init);
    headers.delete(TASK_NAME_HEADER);
    headers.set('mcp-name', task);
    return carry(url, { ...init, headers });
  };
}

/**
 * HTTP+SSE of protocol 2024-11-05: one event stream that names the address for messages, which must be of the same
 * origin. The end of the stream ends the session: a new one does not know the waiting requests.
 */
export const sseWay: MakeWay = (url, headers, carry) => {
  let fault: unknown;
  let streams = 0;
  const { promise: lost, resolve: lose } = Promise.withResolvers<void>();
  const transport = new SSEClientTransport(url, {
    requestInit: { headers, redirect: 'error' },
    async fetch(target, init) {
      const isPost = init?.method === 'POST';
      if (!isPost) {
        streams += 1;
        // The library would reopen a stream by itself.
        if (streams > 1) throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
      }
      try {
        const response = await carry(target, { ...init, redirect: 'error' });
        if (isPost && !response.ok) throw await statusError(response);
        return isPost ? response : withEndListener(response, lose);
      } catch (thrown) {
        fault ??= thrown;
        throw thrown;
      }
    },
  });
  return {
    transport,
    isOlder: true,
    terminate: async () => {},
    onLost: (listener) => void lost.then(listener),
    faultOf: (thrown) => {
      if (!(thrown instanceof SseError)) return fault ?? thrown;
      const { code: status } = thrown;
      if (status === undefined) return fault ?? thrown;
      return new SdkHttpError(SdkErrorCode.ClientHttpFailedToOpenStream, 'it has no stream of events', {
        status,
        statusText: '',
      });
    },
  };
};

/** The answer unchanged; `onEnd` is called when its body ended or broke. */
function withEndListener(response: Response, onEnd: () => void): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void body.pipeTo(writable).then(onEnd, onEnd);
  return new Response(readable, { status, statusText, headers });
}

const TEXT_CHARS_MAX = 1_000;

async function statusError(response: Response): Promise<SdkHttpError> {
  const text = (await response.text().catch(() => '')).slice(0, TEXT_CHARS_MAX);
  const { status, statusText, headers } = response;
  const retryAfter = headers.get('retry-after') ?? undefined;
  return new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, text || statusText, {
    status,
    statusText,
    retryAfter,
  });
}
