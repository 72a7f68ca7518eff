import { isIP } from 'node:net';
import type { NetworkPermission } from '../../../api/schemas/tool-manifest.ts';
import { allowsPort, BELOW, normalHost, normalPattern } from './host-pattern.ts';

/** Hosts and ports of one side, as stated. */
export interface AllowedAddresses {
  readonly hosts: readonly string[];
  readonly ports: readonly number[];
}

/** Most rows that one pattern may become. */
const ROWS_MAX = 256;

/**
 * The part of a wanted pattern that a side allows: its own patterns and names within it, at the wanted port. A pattern
 * stands for public names, so it yields neither addresses nor names of this machine; these must be named explicitly.
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

/** The narrower of two patterns when one contains the other. */
function meet(one: string, other: string): string | undefined {
  if (isWithin(one, other)) return one;
  return isWithin(other, one) ? other : undefined;
}

function isWithin(inner: string, outer: string): boolean {
  if (inner === outer || outer === '*') return true;
  return outer.startsWith(BELOW) && inner.endsWith(outer.slice(1));
}
