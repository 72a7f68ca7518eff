import { plainHost } from '../rules/host-rules.ts';

/** What a client of the proxy asks for. */
export interface ProxyRequest {
  readonly host: string;
  readonly port: number;
  /** What goes to the target first: the request without what was meant for the proxy; empty for a tunnel. */
  readonly forward: string;
  readonly isTunnel: boolean;
}

const HEADERS_MAX = 200;
/** RFC 9112 5; a field for the proxy alone, or for this one connection, is not passed on (RFC 9110 7.6.1). */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/;
const OWN_FIELDS = new Set(['host', 'connection', 'keep-alive', 'proxy-connection', 'proxy-authorization']);
const METHOD = /^[A-Z]{1,32}$/;
/** No sign, no leading zero: others read `0443` or `+443` as 443. */
const PORT = /^[1-9][0-9]{0,4}$/;
const PORT_MAX = 65_535;

/**
 * Reads the head of a request to the proxy, without the empty line at its end: `CONNECT host:port HTTP/1.1`, or any
 * method with an absolute `http:` URL.
 * @returns undefined for all else
 */
export function readProxyRequest(head: string): ProxyRequest | undefined {
  const [first = '', ...lines] = head.split('\r\n');
  const [method = '', target = '', version = '', ...more] = first.split(' ');
  if (more.length > 0 || !METHOD.test(method) || !/^HTTP\/1\.[01]$/.test(version)) return undefined;
  const fields = lines.length > HEADERS_MAX ? undefined : fieldsOf(lines);
  if (fields === undefined) return undefined;
  if (method === 'CONNECT') return tunnelTo(target);
  return requestTo(method, target, fields);
}

/** `host:port`, as RFC 9110 9.3.6 has it; the port is never left out. */
function tunnelTo(authority: string): ProxyRequest | undefined {
  const colon = authority.lastIndexOf(':');
  const host = hostOf(authority.slice(0, Math.max(0, colon)));
  const port = portOf(authority.slice(colon + 1));
  if (host === undefined || port === undefined) return undefined;
  return { host, port, forward: '', isTunnel: true };
}

const TARGET = /^http:\/\/(\[[0-9A-Fa-f:.]{2,45}\]|[^/?#@:[\]]{1,255})(?::([^/?#@]{1,5}))?([/?][\x21-\x7e]*)?$/i;
const HTTP_PORT = '80';

function requestTo(method: string, target: string, fields: readonly string[]): ProxyRequest | undefined {
  const [, name = '', portText = HTTP_PORT, rest = '/'] = TARGET.exec(target) ?? [];
  const host = hostOf(name);
  const port = portOf(portText);
  if (host === undefined || port === undefined) return undefined;
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  const authority = portText === HTTP_PORT ? name : `${name}:${portText}`;
  // One request for each connection: the next may be meant for another host.
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${authority}`, ...fields, 'Connection: close', '', ''];
  return { host, port, forward: lines.join('\r\n'), isTunnel: false };
}

/** An IPv6 address has brackets here, and nothing else has. */
function hostOf(text: string): string | undefined {
  if (text.includes(':') !== text.startsWith('[')) return undefined;
  return plainHost(text);
}

function portOf(text: string): number | undefined {
  const port = PORT.test(text) ? Number(text) : 0;
  return port >= 1 && port <= PORT_MAX ? port : undefined;
}

/** The fields that are passed on; undefined when a line is none. */
function fieldsOf(lines: readonly string[]): readonly string[] | undefined {
  const found = lines.map((line) => FIELD.exec(line));
  if (found.includes(null)) return undefined;
  return lines.filter((_, index) => !OWN_FIELDS.has((found[index]?.[1] ?? '').toLowerCase()));
}
