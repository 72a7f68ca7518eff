import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Lets pages of allowed origins read the answers (CORS, the Fetch standard).
 * @returns true when it answered the request itself: a preflight that asks whether another request is allowed
 */
export type CrossOrigin = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Request headers that a page may send beyond the always allowed ones. */
const REQUEST_HEADERS = [
  'Accept',
  'Authorization',
  'Content-Type',
  'DPoP',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'traceparent',
  'tracestate',
];
/** Answer headers that a page may read beyond the always readable ones. */
const ANSWER_HEADERS = [
  'Allow',
  'DPoP-Nonce',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'Retry-After',
  'WWW-Authenticate',
];
/** 2026-07-28: a tool may define headers of its own for its parameters. */
const PARAMETER_HEADER = /^mcp-param-[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/i;
const METHODS = 'GET, POST, PUT, PATCH, DELETE';
/** How long a browser may cache a preflight, in seconds. */
const MAX_AGE_SECONDS = 600;

/**
 * Browser credentials such as cookies are never allowed: a page sends the token that it was given.
 * @param allowed origins that may read answers; answers to other origins carry no CORS header
 * @param passes the other checks of a request, which apply to preflights too
 */
export function createCrossOrigin(
  allowed: readonly string[],
  passes: (request: IncomingMessage) => boolean,
): CrossOrigin {
  const origins = new Set(allowed.map((origin) => origin.toLowerCase()));
  if (origins.size === 0) return () => false;
  return (request, response) => {
    response.setHeader('vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !origins.has(origin.toLowerCase()) || !passes(request)) return false;
    response.setHeader('access-control-allow-origin', origin);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) {
      response.setHeader('access-control-expose-headers', ANSWER_HEADERS.join(', '));
      return false;
    }
    const asked = (request.headers['access-control-request-headers'] ?? '').split(',').map((name) => name.trim());
    response.setHeader('access-control-allow-methods', METHODS);
    const named = [...REQUEST_HEADERS, ...asked.filter((name) => PARAMETER_HEADER.test(name))];
    response.setHeader('access-control-allow-headers', named.join(', '));
    response.setHeader('access-control-max-age', MAX_AGE_SECONDS);
    response.writeHead(204).end();
    return true;
  };
}
