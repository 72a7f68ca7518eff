import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const HOST_LENGTH_MAX = 253;

/**
 * A host in its one normal form: a name in lower case and ASCII without the final dot, or an IP literal as the kernel
 * would print it (IPv4-mapped IPv6 as IPv4).
 * @returns undefined for what is neither: patterns, ports, spaces, and the short, octal and hexadecimal spellings of
 *   IPv4 that some clients take for an address and others for a name
 */
export function normalHost(host: string): string | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (isIPv6(bare)) return bare.includes('%') ? undefined : normalIPv6(bare);
  if (isIPv4(bare)) return bare === host ? bare : undefined;
  const ascii = domainToASCII(host.replace(/\.$/, '')).toLowerCase();
  const labels = ascii.split('.');
  if (ascii === '' || ascii.length > HOST_LENGTH_MAX || !labels.every((label) => LABEL.test(label))) return undefined;
  // A last label that is a number makes it an IPv4 address in some spelling (WHATWG URL, "ends in a number").
  return /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '') || isIP(ascii) !== 0 ? undefined : ascii;
}

function normalIPv6(address: string): string | undefined {
  const canonical = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical ?? '');
  if (mapped === null) return canonical;
  const bits = (Number.parseInt(mapped[1] ?? '', 16) << 16) | Number.parseInt(mapped[2] ?? '', 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.');
}

/** Hosts that a list of patterns allows. Ask it with normal hosts only. */
export type HostMatcher = (host: string) => boolean;

/**
 * Prepares patterns: exact hosts, IP literals, `*.example.com` for one label or more below, CIDR ranges, `*` for any. A
 * pattern that is none of these matches nothing.
 */
export function hostMatcher(patterns: readonly string[]): HostMatcher {
  if (patterns.includes('*')) return () => true;
  const exact = new Set<string>();
  const suffixes: string[] = [];
  const ranges = new BlockList();
  for (const pattern of patterns) {
    const below = pattern.startsWith('*.') ? normalHost(pattern.slice(2)) : undefined;
    const host = normalHost(pattern);
    if (below !== undefined && isIP(below) === 0) suffixes.push(`.${below}`);
    else if (host !== undefined) exact.add(host);
    else addRange(ranges, pattern);
  }
  return (host) =>
    exact.has(host) || (isIP(host) === 0 ? suffixes.some((end) => host.endsWith(end)) : inRange(ranges, host));
}

function addRange(ranges: BlockList, pattern: string): void {
  const [address = '', bits = '', ...more] = pattern.split('/');
  const family = isIP(address);
  const prefix = /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  if (more.length > 0 || family === 0 || prefix < 0 || prefix > (family === 4 ? 32 : 128)) return;
  ranges.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
}

const inRange = (ranges: BlockList, host: string): boolean => ranges.check(host, isIPv4(host) ? 'ipv4' : 'ipv6');

/** Whether a list of ports allows one; 0 in the list stands for any. */
export function allowsPort(ports: readonly number[], port: number): boolean {
  return ports.includes(port) || ports.includes(0);
}
