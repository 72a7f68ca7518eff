import type { HttpFetch } from './bounded-fetch.ts';

const LINE_FEED = 0x0a;
const FIELD = 'data:';

/**
 * A `fetch` that gives the text of each message in an answer, before the library reads it: of a JSON body the whole, of
 * an event stream the data of each event.
 */
export function withMessageTexts(carry: HttpFetch, onText: (text: string) => void): HttpFetch {
  return async (url, init) => {
    const response = await carry(url, init);
    const { body, headers, status, statusText } = response;
    const type = headers.get('content-type') ?? '';
    if (body !== null && type.startsWith('text/event-stream'))
      return new Response(body.pipeThrough(eventTexts(onText)), { headers, status, statusText });
    // The library reads a JSON body by this method alone; a stream in between would cost each call more.
    return Object.defineProperty(response, 'json', {
      async value() {
        const text = await response.text();
        onText(text);
        return JSON.parse(text) as unknown;
      },
    });
  };
}

/** Passes the bytes on. Those of a line that has no end yet are kept, as long as the bound on messages lets them pass. */
function eventTexts(onText: (text: string) => void): TransformStream<Uint8Array, Uint8Array> {
  let unfinished: Uint8Array[] = [];
  let data: string[] = [];
  return new TransformStream({
    transform(chunk, controller) {
      const end = chunk.lastIndexOf(LINE_FEED) + 1;
      unfinished.push(chunk.subarray(0, end === 0 ? chunk.length : end));
      if (end > 0) {
        const lines = Buffer.concat(unfinished).toString('utf8').split(/\r?\n/);
        unfinished = end < chunk.length ? [chunk.subarray(end)] : [];
        for (const line of lines.slice(0, -1)) {
          if (line.startsWith(FIELD)) data.push(line.slice(FIELD.length));
          if (line !== '' || data.length === 0) continue;
          onText(data.join('\n'));
          data = [];
        }
      }
      controller.enqueue(chunk);
    },
  });
}
