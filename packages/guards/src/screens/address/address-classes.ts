import { type AddressRange, isWithin, parseRange } from './address-range.ts';
import { type IpAddress, parseAddress } from './parse-address.ts';

/** Class of an address; `invalid` for a text that is no address in canonical form. */
export type AddressClass =
  | 'public'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link_local'
  | 'metadata'
  | 'multicast'
  | 'unspecified'
  | 'documentation'
  | 'benchmarking'
  | 'reserved'
  | 'translated'
  | 'invalid';

/**
 * IANA special-purpose registries (RFC 6890 and its updates), and the metadata services of clouds, some of which have
 * otherwise public addresses. The first matching row gives the class.
 */
const ROWS: readonly (readonly [AddressClass, readonly string[]])[] = [
  // AWS (instance, DNS, container and pod credentials), Azure, Alibaba, Oracle, Tencent, OpenStack, GCP.
  ['metadata', ['169.254.169.254', '169.254.169.253', '169.254.170.2', '169.254.170.23', '169.254.0.23']],
  ['metadata', ['168.63.129.16', '100.100.100.200', '192.0.0.192']],
  ['metadata', ['fd00:ec2::/32', 'fd00:a9fe:a9fe::/48', 'fd20:ce::254', 'fe80::a9fe:a9fe']],
  ['unspecified', ['0.0.0.0', '::']],
  ['loopback', ['127.0.0.0/8', '::1']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
  ['shared', ['100.64.0.0/10']],
  ['link_local', ['169.254.0.0/16', 'fe80::/10']],
  ['multicast', ['224.0.0.0/4', 'ff00::/8']],
  ['documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20']],
  ['benchmarking', ['198.18.0.0/15', '2001:2::/48']],
  ['reserved', ['0.0.0.0/8', '192.0.0.0/24', '192.88.99.0/24', '240.0.0.0/4']],
  // Contain an IPv4 address that a gateway on the way may extract: IPv4-compatible, SIIT, NAT64, Teredo, 6to4.
  ['translated', ['::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2001::/32', '2002::/16']],
  ['reserved', ['100::/64', '100:0:0:1::/64', '2001::/23', '5f00::/16', 'fec0::/10']],
];

const MAPPED = rangeOf('::ffff:0:0/96');

const TABLE = ROWS.flatMap(([name, texts]) => texts.map((text) => ({ name, range: rangeOf(text) })));
const TABLES = {
  4: TABLE.filter(({ range }) => range.first.family === 4),
  6: TABLE.filter(({ range }) => range.first.family === 6),
};

/**
 * Classifies an IP address (EXE-05). An IPv4-mapped IPv6 address has the class of its IPv4 address; one that a gateway
 * translates (NAT64, 6to4, Teredo) is `translated`, whatever it contains. Brackets and zones are ignored.
 */
export function classifyAddress(address: string): AddressClass {
  const parsed = parseAddress(address);
  return parsed === undefined ? 'invalid' : classOf(parsed);
}

/** The same for an address that was read before. */
export function classOf(address: IpAddress): AddressClass {
  const plain = unmapped(address);
  for (const { name, range } of TABLES[plain.family]) if (isWithin(plain, range)) return name;
  return plain.family === 6 && isIsatap(plain.groups) ? 'translated' : 'public';
}

/** The IPv4 address in an IPv4-mapped IPv6 address (RFC 4291 2.5.5.2); every other address unchanged. */
export function unmapped(address: IpAddress): IpAddress {
  if (address.family === 4 || address.groups[5] !== 0xffff || !isWithin(address, MAPPED)) return address;
  const [high = 0, low = 0] = address.groups.slice(6);
  return { family: 4, bits: high * 0x1_00_00 + low };
}

/** RFC 5214 6.1: the interface part holds an IPv4 address. */
const isIsatap = (groups: readonly number[]): boolean =>
  groups[5] === 0x5efe && (groups[4] === 0 || groups[4] === 0x0200);

function rangeOf(text: string): AddressRange {
  const range = parseRange(text);
  if (range === undefined) throw new Error(`not an address range: ${text}`);
  return range;
}
