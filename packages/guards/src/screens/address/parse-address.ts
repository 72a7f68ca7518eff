/** An IPv4 address as an unsigned 32-bit number. */
export interface Ipv4 {
  readonly family: 4;
  readonly bits: number;
}

/** An IPv6 address as eight groups of 16 bits. */
export interface Ipv6 {
  readonly family: 6;
  readonly groups: readonly number[];
}

export type IpAddress = Ipv4 | Ipv6;

/** The longest text of an IPv6 address, with an IPv4 tail; a zone may follow. */
const ADDRESS_CHARS_MAX = 45;
const GROUPS = 8;

/**
 * Parses an address in canonical form: four decimal numbers without leading zeros (RFC 6943 3.1.1 describes the dangers
 * of other forms), or RFC 4291 2.2. Brackets and a zone (RFC 4007) around an IPv6 address are ignored.
 * @returns undefined for every other text, short, octal and hexadecimal forms of IPv4 included
 */
export function parseAddress(text: string): IpAddress | undefined {
  if (!text.includes(':')) return ipv4Of(text);
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  const zone = bare.indexOf('%');
  return ipv6Of(zone === -1 ? bare : bare.slice(0, zone));
}

function ipv4Of(text: string): Ipv4 | undefined {
  const bits = ipv4Bits(text);
  return bits === undefined ? undefined : { family: 4, bits };
}

const OCTETS = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/;

function ipv4Bits(text: string): number | undefined {
  const found = OCTETS.exec(text);
  if (found === null) return undefined;
  let bits = 0;
  for (let at = 1; at <= 4; at += 1) {
    const octet = Number(found[at]);
    if (octet > 255) return undefined;
    bits = bits * 256 + octet;
  }
  return bits;
}

function ipv6Of(text: string): Ipv6 | undefined {
  if (text.length > ADDRESS_CHARS_MAX) return undefined;
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0) return undefined;
  const before = groupsOf(head, tail === undefined);
  const after = tail === undefined ? [] : groupsOf(tail, true);
  if (before === undefined || after === undefined) return undefined;
  const missing = GROUPS - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  return { family: 6, groups: [...before, ...new Array<number>(missing).fill(0), ...after] };
}

/** @param isLast true when the part may end in an IPv4 address */
function groupsOf(part: string, isLast: boolean): number[] | undefined {
  if (part === '') return [];
  const groups: number[] = [];
  const pieces = part.split(':');
  for (const [at, piece] of pieces.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(piece)) {
      groups.push(Number.parseInt(piece, 16));
      continue;
    }
    const bits = isLast && at === pieces.length - 1 ? ipv4Bits(piece) : undefined;
    if (bits === undefined) return undefined;
    groups.push(bits >>> 16, bits & 0xffff);
  }
  return groups;
}
