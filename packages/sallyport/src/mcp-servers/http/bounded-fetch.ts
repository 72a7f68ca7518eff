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
 * @param carry sends the requests
 * @param onText receives the text of each message before the reader of the answer has it: of a JSON body the whole, of an
 *   event stream the data of each event
 */
export function boundedFetch(carry: HttpFetch, onText: OnText): HttpFetch {
  return async (url, init) => bounded(await carry(url, init), onText);
}

type OnText = (text: string) => void;

function bounded(response: Response, onText: OnText): Response {
  if (response.body === null) return response;
  const { headers, status, statusText } = response;
  const through = (stream: TransformStream<Uint8Array, Uint8Array>): Response =>
    new Response(response.body?.pipeThrough(stream), { headers, status, statusText });
  if (headers.get('content-type')?.startsWith('text/event-stream') === true) return through(eventBound(onText));
  const length = Number(headers.get('content-length') ?? Number.NaN);
  // Common case: a body with a declared length cannot exceed it.
  const isBounded = length <= HTTP_MESSAGE_BYTES_MAX && !headers.has('content-encoding');
  return withJsonText(isBounded ? response : through(bodyBound()), onText);
}

/** The library reads a JSON body by `json` alone. */
function withJsonText(response: Response, onText: OnText): Response {
  return Object.defineProperty(response, 'json', {
    async value() {
      const text = await response.text();
      onText(text);
      return JSON.parse(text) as unknown;
    },
  });
}

function bodyBound(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > HTTP_MESSAGE_BYTES_MAX) controller.error(new TypeError(TOO_LONG));
      else controller.enqueue(chunk);
    },
  });
}

function eventBound(onText: OnText): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  const takeTexts = eventTexts(onText);
  return new TransformStream({
    transform(chunk, controller) {
      const end = lastEventEnd(chunk);
      bytes = end === -1 ? bytes + chunk.length : chunk.length - end;
      if (bytes > HTTP_MESSAGE_BYTES_MAX) return controller.error(new TypeError(TOO_LONG));
      takeTexts(chunk);
      controller.enqueue(chunk);
    },
  });
}

const LINE_FEED = 0x0a;
const FIELD = 'data:';

/** Keeps the bytes of a line that has no end yet, as long as the bound on messages lets them pass. */
function eventTexts(onText: OnText): (chunk: Uint8Array) => void {
  let unfinished: Uint8Array[] = [];
  let data: string[] = [];
  return (chunk) => {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    unfinished.push(end === 0 ? chunk : chunk.subarray(0, end));
    if (end === 0) return;
    const lines = Buffer.concat(unfinished).toString('utf8').split(/\r?\n/);
    unfinished = end < chunk.length ? [chunk.subarray(end)] : [];
    for (const line of lines.slice(0, -1)) {
      if (line.startsWith(FIELD)) data.push(line.slice(FIELD.length));
      if (line !== '' || data.length === 0) continue;
      onText(data.join('\n'));
      data = [];
    }
  };
}

/** Index after the last empty line of a chunk, or -1. */
function lastEventEnd(chunk: Uint8Array): number {
  const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(view.lastIndexOf('\n\n'), view.lastIndexOf('\r\n\r\n'));
}
