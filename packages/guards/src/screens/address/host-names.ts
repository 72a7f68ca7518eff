import type { AddressClass } from './address-classes.ts';
import { classOfWrittenAddress } from './names-with-address.ts';

/** Names under which clouds and container platforms serve credentials to any inside client. */
const METADATA_NAMES: ReadonlySet<string> = new Set([
  'instance-data',
  'instance-data.ec2.internal',
  'metadata',
  'metadata.azure.com',
  'metadata.azure.internal',
  'metadata.goog',
  'metadata.google.internal',
  'metadata.oraclecloud.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'metadata.tencentyun.com',
  'rancher-metadata',
]);

const LOOPBACK_NAMES: ReadonlySet<string> = new Set([
  'ip6-localhost',
  'ip6-loopback',
  'localhost',
  'localhost4',
  'localhost6',
  'loopback',
]);

/** Names that never leave a network: RFC 6761, 6762, 8375, ICANN's `internal`, and what sites and clusters use. */
const PRIVATE_SUFFIXES: ReadonlySet<string> = new Set([
  'arpa',
  'corp',
  'consul',
  'docker',
  'home',
  'internal',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localdomain',
  'localdomain4',
  'localdomain6',
  'private',
  'svc',
]);

/**
 * Class of a host name before any lookup: loopback, metadata or private names, and single-label names, which only a
 * search domain or a container network resolves; of a name with an address in it, that of the address. `public` for the
 * rest, which says nothing about their addresses.
 * @param host lower case, without trailing dots
 */
export function classOfName(host: string): AddressClass {
  if (METADATA_NAMES.has(host)) return 'metadata';
  if (LOOPBACK_NAMES.has(host)) return 'loopback';
  const dot = host.lastIndexOf('.');
  if (dot === -1) return 'private';
  const last = host.slice(dot + 1);
  if (last === 'localhost') return 'loopback';
  if (last.startsWith('localdomain')) return host.startsWith('localhost') ? 'loopback' : 'private';
  return PRIVATE_SUFFIXES.has(last) ? 'private' : (classOfWrittenAddress(host) ?? 'public');
}
