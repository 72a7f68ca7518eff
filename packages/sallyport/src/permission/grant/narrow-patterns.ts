import { isIP } from 'node:net';
import type { NetworkPermission } from '../../../api/schemas/tool-manifest.ts';
import { allowsPort, normalHost } from './host-pattern.ts';

/** Hosts and ports of one side, as it says them. */
export interface AllowedAddresses {
  readonly hosts: readonly string[];
  readonly ports: readonly number[];
}

/** Rows that one pattern may become. */
const ROWS_MAX = 256;
const BELOW = '*.';

/**
 * A pattern of hosts in its normal form: `*`, or `*.name` for what lies below a name.
 * @returns undefined for what is none
 */
export function normalPattern(host: string): string | undefined {
  if (host === '*') return host;
  const name = host.startsWith(BELOW) ? normalHost(host.slice(BELOW.length)) : undefined;
  return name === undefined || isIP(name) !== 0 ? undefined : BELOW + name;
}

/**
 * What of a wanted pattern a side allows: its own patterns and names that lie in it, at the wanted port. A pattern stands
 * for public names, so neither addresses nor names of this machine come of it; whoever means those names them.
 */
export function narrowPattern(wanted: NetworkPermission, { hosts, ports }: AllowedAddresses): NetworkPermission[] {
  if (!allowsPort(ports, wanted.port)) return [];
  const met = new Set<string>();
  for (const host of hosts) {
    const other = normalPattern(host) ?? normalHost(host);
    const both = other === undefined || !isPublicName(other) ? undefined : meet(wanted.host, other);
    if (both !== undefined) met.add(both);
    if (met.size === ROWS_MAX) break;
  }
  return [...met].map((host) => ({ host, port: wanted.port }));
}

function isPublicName(host: string): boolean {
  return isIP(host) === 0 && host !== 'localhost' && !host.endsWith('.localhost');
}

/** The narrower of two, where one lies in the other. */
function meet(one: string, other: string): string | undefined {
  if (isWithin(one, other)) return one;
  return isWithin(other, one) ? other : undefined;
}

function isWithin(inner: string, outer: string): boolean {
  if (inner === outer || outer === '*') return true;
  return outer.startsWith(BELOW) && inner !== '*' && inner.endsWith(outer.slice(1));
}
