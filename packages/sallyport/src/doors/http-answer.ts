import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { ConnectionLost } from '../domain/principal/connection-lost.ts';

/** Sent with every answer: nothing of it may be cached, framed, sniffed or run by a browser. */
const SECURITY_HEADERS = [
  'cache-control',
  'no-store',
  'x-content-type-options',
  'nosniff',
  'content-security-policy',
  "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy',
  'no-referrer',
  'cross-origin-resource-policy',
  'same-origin',
];

/** Sends a whole answer. `headers` are name and value in turn. */
export function send(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string,
  headers: readonly string[] = [],
): void {
  if (response.headersSent || response.destroyed) return;
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, ['content-type', contentType, 'content-length', length, ...SECURITY_HEADERS, ...headers]);
  response.end(body);
}

/** Sends a page for people. A browser applies the one style sheet that is given, and still runs and loads nothing. */
export function sendPage(response: ServerResponse, html: string, style: string): void {
  const policy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; frame-ancestors 'none'`;
  const headers = SECURITY_HEADERS.with(SECURITY_HEADERS.indexOf('content-security-policy') + 1, policy);
  const length = String(Buffer.byteLength(html));
  response.writeHead(200, ['content-type', 'text/html; charset=utf-8', 'content-length', length, ...headers]);
  response.end(html);
}

/** Headers of a stream of events: SECURITY_HEADERS' rule against caching, and none of what only pages need. */
export const STREAM_HEADERS = ['cache-control', 'no-store, no-transform', 'x-content-type-options', 'nosniff'];

const ENDS = new WeakMap<ServerResponse, AbortController>();

/**
 * The end of what a request asked for: aborted with `ConnectionLost` when its connection ends before the answer, and with the
 * door's reason when the door stops.
 * @returns the same controller for the same response
 */
export function requestEnd(response: ServerResponse): AbortController {
  const known = ENDS.get(response);
  if (known !== undefined) return known;
  const end = new AbortController();
  ENDS.set(response, end);
  response.once('close', () => {
    if (!response.writableFinished) end.abort(new ConnectionLost());
  });
  return end;
}
