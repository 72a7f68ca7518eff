import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { failure } from '@sallyport/std/error/failure';
import { problemOf } from '../reply.ts';

const ANSWERS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time. Send it again, whole.'],
  HPE_HEADER_OVERFLOW: [431, 'The request head is too large. Send fewer or shorter headers.'],
};
const MALFORMED = [400, 'This is not an HTTP request that can be read.'] as const;

/** Answers bytes that are no HTTP request, then closes: there is no request object to answer through. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = ANSWERS[error.code ?? ''] ?? MALFORMED;
  const body = JSON.stringify(problemOf(failure('E3801', message), status));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/problem+json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
