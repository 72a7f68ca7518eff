import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { refuseCredentials } from '../../bearer.ts';
import type { RestSettings } from '../settings.ts';

/** Most headers of a request. Names and values stand one after another in what Node received. */
const HEADERS_MAX = 200;
const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Reason why a request is refused, and its HTTP status. */
export interface Refusal {
  readonly failed: Failure;
  readonly status: 400 | 403 | 431;
}

/** Checks a request before anything of it is read. Undefined when it may proceed. */
export type RequestGuard = (request: IncomingMessage) => Refusal | undefined;

/**
 * Refuses requests that a browser may have been tricked into sending: a foreign `Host` (DNS rebinding) and an `Origin`
 * of a foreign page (403). Also refuses requests that two programs on the way may read differently: several `Host`
 * headers, another host's address in the request line, a misplaced credential (400), and those with too many headers
 * (431).
 * @param host address that the door is bound to
 */
export function createRequestGuard(
  host: string,
  settings: Pick<RestSettings, 'allowedHosts' | 'allowedOrigins'>,
): RequestGuard {
  const named = settings.allowedHosts.map((name) => name.toLowerCase());
  const bounded = isLoopback(host) || named.length > 0;
  const hosts = new Set([...LOOPBACK_HOSTS, ...named]);
  const origins = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase()));

  return (request) => {
    const { headers, rawHeaders, url = '' } = request;
    if (rawHeaders.length > 2 * HEADERS_MAX) return refusal(431, TOO_MANY);
    if (hasSeveralHosts(rawHeaders)) return refusal(400, 'The request carries more than one Host header. Send one.');
    const isServed = !bounded || hosts.has(hostName(headers.host));
    // Fast path: the address in the request line is a path.
    if (!url.startsWith('/') && url !== '*' && !(isServed && namesHost(url, headers.host))) {
      return refusal(400, `The address in the request line is not one of this layer: ${quoted(url)}. ${SEND_PATH}`);
    }
    if (!isServed) {
      return refusal(403, `This layer does not serve the host ${quoted(headers.host)}. ${ADD_HOST}`);
    }
    const { origin } = headers;
    // Only pages send an Origin; programs do not.
    if (origin !== undefined && !origins.has(origin.toLowerCase()) && !isOwn(origin, headers.host)) {
      return refusal(403, `Pages of the origin ${quoted(origin)} may not call this layer. ${ADD_ORIGIN}`);
    }
    const failed = refuseCredentials(request);
    return failed === undefined ? undefined : { failed, status: 400 };
  };
}

const refusal = (status: Refusal['status'], message: string): Refusal => ({
  failed: failure('E3801', message),
  status,
});

const TOO_MANY = `The request has more than ${HEADERS_MAX} headers. Send fewer.`;
const SEND_PATH = 'Send its path alone, as clients do that use no proxy.';
const ADD_HOST = 'Use localhost, or add the name to the setting server.allowed_hosts.';
const ADD_ORIGIN = 'Add it to the setting server.allowed_origins.';

/** True for addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return name === 'localhost' || name === '::1' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'));
}

/** RFC 9112 §3.2: more than one is a bad request. Names stand at the even places; Node keeps the first value alone. */
function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count > 1;
}

/** True for an absolute address (RFC 9112 §3.2.2) of the same host that the header names. */
function namesHost(url: string, host: string | undefined): boolean {
  const authority = /^https?:\/\/([^/?#]*)\//i.exec(url)?.[1];
  return authority !== undefined && host !== undefined && authority.toLowerCase() === host.toLowerCase();
}

/** The host of a `Host` header without its port, lower case. */
function hostName(header = ''): string {
  return header.replace(/:[0-9]*$/, '').toLowerCase();
}

/** True when the page came from this same door. */
function isOwn(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/** Foreign text in a message: printable and short. */
function quoted(text: string | undefined): string {
  return `"${(text ?? '').replace(/[^ -~]/g, '?').slice(0, 100)}"`;
}
