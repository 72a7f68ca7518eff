import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { ConnectionLost } from '../domain/principal/connection-lost.ts';

/** Sent with every answer: forbids caching, framing, content sniffing and running anything in a browser. */
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

/** Sends a whole answer. `headers` alternates names and values. */
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

/**
 * Sends a page for people. The browser may apply the one given style sheet, and runs and loads nothing else.
 * @param more status, default 200; to whom the browser names the page, default nobody
 */
export function sendPage(
  response: ServerResponse,
  html: string,
  style: string,
  {
    status = 200,
    referrer = 'no-referrer',
  }: { readonly status?: number; readonly referrer?: 'no-referrer' | 'same-origin' } = {},
): void {
  const policy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; frame-ancestors 'none'`;
  const headers = SECURITY_HEADERS.with(SECURITY_HEADERS.indexOf('content-security-policy') + 1, policy).with(
    SECURITY_HEADERS.indexOf('referrer-policy') + 1,
    referrer,
  );
  const length = String(Buffer.byteLength(html));
  response.writeHead(status, ['content-type', 'text/html; charset=utf-8', 'content-length', length, ...headers]);
  response.end(html);
}

/** Headers of an event stream: the caching rule of SECURITY_HEADERS, without the headers that only pages need. */
export const STREAM_HEADERS = ['cache-control', 'no-store, no-transform', 'x-content-type-options', 'nosniff'];

const ENDS = new WeakMap<ServerResponse, AbortController>();

/**
 * The controller that ends the work for a request: aborted with `ConnectionLost` when the connection ends before the
 * answer, and with the door's reason when the door stops.
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
