import { isIP, isIPv6 } from 'node:net';
import { type AddressClass, classifyAddress } from '@sallyport/guards';
import type { NetworkPermission } from '@sallyport/std/permissions';

/** Targets that a sandbox may connect to. Call it with plain hosts only. */
export interface HostRules {
  allows(host: string, port: number): boolean;
  /** True when a row names the host exactly, not by a pattern. */
  isNamed(host: string): boolean;
  /** Rows with an exact host and an exact port. */
  readonly exact: readonly NetworkPermission[];
  /** True when some row is a pattern, so that not all targets are known in advance. */
  readonly hasPatterns: boolean;
}

/** Any port, in a row. */
const ANY_PORT = 0;
const ANY_HOST = '*';

/**
 * Reads the rows of a grant: an exact host or `*.name` for what lies below it or `*`; an exact port or 0 for any.
 * @returns the row that is none of these, when there is one
 */
export function hostRules(network: readonly NetworkPermission[]): HostRules | { readonly fault: NetworkPermission } {
  const ports = new Map<string, Set<number>>();
  const exact: NetworkPermission[] = [];
  for (const row of network) {
    const host = patternOf(row.host);
    if (host === undefined || !isPort(row.port)) return { fault: row };
    const known = ports.get(host) ?? new Set();
    if (!isPattern(host) && row.port !== ANY_PORT && !known.has(row.port)) exact.push({ host, port: row.port });
    ports.set(host, known.add(row.port));
  }
  const opens = (pattern: string, port: number): boolean => {
    const known = ports.get(pattern);
    return known !== undefined && (known.has(port) || known.has(ANY_PORT));
  };
  const suffixes = [...ports.keys()].filter((host) => host.startsWith('*.'));
  return {
    allows: (host, port) =>
      opens(host, port) ||
      opens(ANY_HOST, port) ||
      (isIP(host) === 0 && suffixes.some((pattern) => host.endsWith(pattern.slice(1)) && opens(pattern, port))),
    isNamed: (host) => ports.has(host),
    exact,
    hasPatterns: [...ports].some(([host, known]) => isPattern(host) || known.has(ANY_PORT)),
  };
}

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const NAME_CHARS_MAX = 253;

/**
 * A host in its one plain form: a name in lower case without the final dot, an IPv4 address of four decimal numbers, an
 * IPv6 address as URLs write it, without brackets.
 * @returns undefined for all else, the short, octal and hexadecimal spellings of IPv4 and zones too
 */
export function plainHost(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (isIPv6(bare)) return plainIPv6(bare);
  if (bare !== text) return undefined;
  if (isIP(text) === 4) return text;
  const name = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase();
  const labels = name.split('.');
  if (name.length > NAME_CHARS_MAX || !labels.every((label) => LABEL.test(label))) return undefined;
  // A last label that is a number makes it an IPv4 address in some spelling (WHATWG URL, "ends in a number").
  return /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '') ? undefined : name;
}

/** IPv4 has a form of its own, and a zone means nothing to anyone else. */
function plainIPv6(text: string): string | undefined {
  const plain = text.includes('%') ? undefined : URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  return plain?.startsWith('::ffff:') ? undefined : plain;
}

function patternOf(text: string): string | undefined {
  if (text === ANY_HOST) return text;
  if (!text.startsWith('*.')) {
    const host = plainHost(text);
    return host !== undefined && isIP(host) !== 0 && NO_HOST.has(classifyAddress(host)) ? undefined : host;
  }
  const below = plainHost(text.slice(2));
  return below === undefined || isIP(below) !== 0 ? undefined : `*.${below}`;
}

/** Addresses that stand for no one host. */
const NO_HOST: ReadonlySet<AddressClass> = new Set(['unspecified', 'multicast', 'reserved', 'invalid']);
const isPattern = (host: string): boolean => host.startsWith('*');
const isPort = (port: number): boolean => Number.isInteger(port) && port >= 0 && port <= 65_535;
