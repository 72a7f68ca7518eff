// Contexts that calls bring are prepared per call, so this must be fast.
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { type AddressRange, addressRange, isInRange } from './address-range.ts';

const NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** A last label that is a number makes a name an IPv4 address in some spelling (WHATWG URL, "ends in a number"). */
const NUMBER_AT_END = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;
/** Characters that IDNA leaves unchanged, except capitals. */
const PLAIN = /^[a-zA-Z0-9_.-]*$/;
/** Characters of ASCII that no name has: of `a.test/x`, `a.test?x` and `a%2etest` IDNA takes `a.test`. */
const ODD = /[^a-zA-Z0-9_.\u{80}-\u{10ffff}-]/u;
const HOST_LENGTH_MAX = 253;

/**
 * A host in its one normal form: a name in lower case and ASCII without the final dot, or an IP literal as the kernel
 * would print it (IPv4-mapped IPv6 as IPv4).
 * @returns undefined for what is neither: patterns, ports, spaces, and the short, octal and hexadecimal spellings of
 *   IPv4 that some clients take for an address and others for a name
 */
export function normalHost(host: string): string | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (bare.includes(':')) return isIPv6(bare) ? normalIPv6(bare) : undefined;
  if (isIPv4(bare)) return bare === host ? bare : undefined;
  const name = asciiOf(host.endsWith('.') ? host.slice(0, -1) : host);
  return name.length <= HOST_LENGTH_MAX && NAME.test(name) && !NUMBER_AT_END.test(name) ? name : undefined;
}

/** Empty when IDNA rejects the name, or a URL would end it early or decode something in it. */
function asciiOf(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase();
  return ODD.test(name) ? '' : domainToASCII(name);
}

/** Undefined for an address with a zone. */
function normalIPv6(address: string): string | undefined {
  const canonical = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical ?? '');
  if (mapped === null) return canonical;
  const bits = (Number.parseInt(mapped[1] ?? '', 16) << 16) | Number.parseInt(mapped[2] ?? '', 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.');
}

/** Begins a pattern for everything below a name. */
export const BELOW = '*.';

/**
 * A host pattern in normal form: `*`, or `*.name` for everything below a name.
 * @returns undefined for anything else
 */
export function normalPattern(host: string): string | undefined {
  if (host === '*') return host;
  const name = host.startsWith(BELOW) ? normalHost(host.slice(BELOW.length)) : undefined;
  return name === undefined || isIP(name) !== 0 ? undefined : BELOW + name;
}

/** True for hosts that a list of patterns allows. Call it with normal hosts only. */
export type HostMatcher = (host: string) => boolean;

/**
 * Prepares patterns: exact hosts, IP literals, `*.example.com` for one or more labels below, CIDR ranges, `*` for any.
 * Any other pattern matches nothing.
 */
export function hostMatcher(patterns: readonly string[]): HostMatcher {
  if (patterns.includes('*')) return () => true;
  const exact = new Set<string>();
  const suffixes: string[] = [];
  const ranges: AddressRange[] = [];
  for (const pattern of patterns) {
    const range = addressRange(pattern);
    if (range !== undefined) ranges.push(range);
    const below = normalPattern(pattern);
    if (below !== undefined) suffixes.push(below.slice(1));
    const host = normalHost(pattern);
    if (host !== undefined) exact.add(host);
  }
  return (host) => {
    if (exact.has(host)) return true;
    if (isIP(host) !== 0) return ranges.some((range) => isInRange(range, host));
    return suffixes.some((end) => host.endsWith(end));
  };
}

/** True when a list of ports allows one; 0 in the list stands for any. */
export function allowsPort(ports: readonly number[], port: number): boolean {
  return ports.includes(port) || ports.includes(0);
}
