// Hot path: every request is looked at here first.
import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4 } from 'node:net';
import { type Failure, failure } from '../../domain/error/failure.ts';
import type { RestSettings } from './settings.ts';

const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Refuses what a browser may have been tricked into sending: a `Host` that is not ours (DNS rebinding) and an `Origin`
 * of a foreign page. Returns undefined when the request may go on.
 * @param host address that the door is bound to
 */
export function createRequestGuard(
  host: string,
  settings: Pick<RestSettings, 'allowedHosts' | 'allowedOrigins'>,
): (headers: IncomingHttpHeaders) => Failure | undefined {
  const named = settings.allowedHosts.map((name) => name.toLowerCase());
  const bounded = isLoopback(host) || named.length > 0;
  const hosts = new Set([...LOOPBACK_HOSTS, ...named]);
  const origins = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase()));

  return (headers) => {
    if (bounded && !hosts.has(hostName(headers.host))) {
      return failure('E3801', `This layer does not serve the host ${quoted(headers.host)}. ${ADD_HOST}`);
    }
    const { origin } = headers;
    // Programs send no Origin; only pages do.
    if (origin === undefined || origins.has(origin.toLowerCase()) || isOwn(origin, headers.host)) return undefined;
    return failure('E3801', `Pages of the origin ${quoted(origin)} may not call this layer. ${ADD_ORIGIN}`);
  };
}

const ADD_HOST = 'Use localhost, or add the name to the allowed hosts of the REST door.';
const ADD_ORIGIN = 'Add it to the allowed origins of the REST door.';

/** Whether an address can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return name === 'localhost' || name === '::1' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'));
}

/** The host of a `Host` header without its port, lower case. */
function hostName(header = ''): string {
  return header.replace(/:[0-9]*$/, '').toLowerCase();
}

/** The page came from this very door. */
function isOwn(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/** Foreign text in a message: printable and short. */
function quoted(text: string | undefined): string {
  return `"${(text ?? '').replace(/[^ -~]/g, '?').slice(0, 100)}"`;
}
