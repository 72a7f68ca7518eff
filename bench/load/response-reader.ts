/** One HTTP/1.1 response, whole. Header names are as the server wrote them. */
export interface HttpResponse {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Puts the responses of one connection together from its chunks; one at a time. Text is read as Latin-1. */
export interface ResponseReader {
  /** @returns the response when it is complete */
  feed(chunk: Buffer): HttpResponse | undefined;
}

export function responseReader(): ResponseReader {
  let text = '';
  return {
    feed(chunk) {
      text += chunk.toString('latin1');
      const headEnd = text.indexOf('\r\n\r\n');
      if (headEnd === -1) return undefined;
      const head = text.slice(0, headEnd);
      const body = bodyOf(head, text.slice(headEnd + 4));
      if (body === undefined) return undefined;
      text = '';
      return { status: Number(head.slice(9, 12)), head, body };
    },
  };
}

/** Value of a header; undefined when it is not there. */
export function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`\\r\\n${name}: *([^\\r]*)`, 'i').exec(head)?.[1];
}

/** Undefined while it is incomplete. */
function bodyOf(head: string, rest: string): string | undefined {
  const length = LENGTH.exec(head)?.[1];
  if (length !== undefined) return rest.length >= Number(length) ? rest : undefined;
  return CHUNKED.test(head) ? fromChunks(rest) : '';
}

const LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;

function fromChunks(text: string): string | undefined {
  let body = '';
  let position = 0;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', position);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(text.slice(position, lineEnd), 16);
    const end = lineEnd + 2 + size;
    if (Number.isNaN(size)) throw new Error('the server sent a chunk without its size');
    if (text.length < end + 2) return undefined;
    if (size === 0) return body;
    body += text.slice(lineEnd + 2, end);
    position = end + 2;
  }
}
