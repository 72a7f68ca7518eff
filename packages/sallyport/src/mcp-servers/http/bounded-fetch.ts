import { MiB } from '@sallyport/std/bytes';

/** Longest message that is read from an HTTP upstream: a JSON body, or one event of a stream. */
const HTTP_MESSAGE_BYTES_MAX = 16 * MiB;

/** Error message when a body is too long. */
export const TOO_LONG = `the server sent a message of more than ${HTTP_MESSAGE_BYTES_MAX} bytes`;

/** Sends one request. Redirects are not followed when `init` says so. */
export type HttpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` with limited answers: the body fails once one of its messages exceeds the limit. Event streams may be
 * endless, as long as each event is within it.
 * @param carry sends the requests; default: the platform's `fetch`
 */
export function boundedFetch(carry: HttpFetch = fetch): HttpFetch {
  return async (url, init) => bounded(await carry(url, init));
}

function bounded(response: Response): Response {
  if (response.body === null) return response;
  const { headers, status, statusText } = response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const length = Number(headers.get('content-length') ?? Number.NaN);
  // Common case: a body with a declared length cannot exceed it.
  if (!isStream && length <= HTTP_MESSAGE_BYTES_MAX && !headers.has('content-encoding')) return response;
  return new Response(response.body.pipeThrough(messageBound(isStream)), { headers, status, statusText });
}

function messageBound(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? lastEventEnd(chunk) : -1;
      bytes = end === -1 ? bytes + chunk.length : chunk.length - end;
      if (bytes > HTTP_MESSAGE_BYTES_MAX) {
        controller.error(new TypeError(TOO_LONG));
      } else controller.enqueue(chunk);
    },
  });
}

/** Index after the last empty line of a chunk, or -1. */
function lastEventEnd(chunk: Uint8Array): number {
  const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(view.lastIndexOf('\n\n'), view.lastIndexOf('\r\n\r\n'));
}
