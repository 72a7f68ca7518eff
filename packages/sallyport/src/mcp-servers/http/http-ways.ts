import {
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { HttpFetch } from './bounded-fetch.ts';

/** A transport over HTTP, not started yet, with what the transports do not have in common. */
export interface HttpWay {
  readonly transport: Transport;
  /** Whether servers of it know no protocol of 2026. */
  readonly isOlder: boolean;
  /** Tells the server that the session is over. */
  terminate(): Promise<void>;
  /** The listener is told once when the connection is lost, also when that was before. */
  onLost(listener: () => void): void;
  /** A fault of the start in the form that failures are told from. */
  faultOf(thrown: unknown): unknown;
}

/** @param headers sent with each request @param carry sends it */
export type MakeWay = (url: URL, headers: Readonly<Record<string, string>>, carry: HttpFetch) => HttpWay;

/** Streamable HTTP. */
export const streamableWay: MakeWay = (url, headers, carry) => {
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers, redirect: 'error' },
    fetch: carry,
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

/**
 * HTTP+SSE of protocol 2024-11-05: one stream of events that names where messages are sent to, which has to be of the same
 * origin. A stream that ends is the end of the session: a new one knows nothing of the requests that wait.
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
        // The library would open a stream again by itself.
        if (streams > 1) throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
      }
      try {
        const response = await carry(target, { ...init, redirect: 'error' });
        if (isPost && !response.ok) throw await statusError(response);
        return isPost ? response : toldAtEnd(response, lose);
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

/** The answer as it came; `onEnd` is told when its body ended or broke. */
function toldAtEnd(response: Response, onEnd: () => void): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void body.pipeTo(writable).then(onEnd, onEnd);
  return new Response(readable, { status, statusText, headers });
}

const TEXT_CHARS_MAX = 1_000;

async function statusError(response: Response): Promise<SdkHttpError> {
  const text = (await response.text().catch(() => '')).slice(0, TEXT_CHARS_MAX);
  const { status, statusText } = response;
  return new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, text || statusText, { status, statusText });
}
