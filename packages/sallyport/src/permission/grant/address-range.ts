import { isIPv4, isIPv6 } from 'node:net';

/** A CIDR range. */
export interface AddressRange {
  /** Its first address, in groups of 16 bits: 2 for IPv4, 8 for IPv6. */
  readonly groups: readonly number[];
  readonly bits: number;
}

const GROUP_BITS = 16;
const RANGE = /^([^/]+)\/(\d{1,3})$/;
/** IPv4 within IPv6, ::ffff:0:0/96. */
const MAPPED_GROUPS = 6;
const MAPPED_MARK = 0xffff;

/** Parses `address/bits`. IPv4-mapped ranges become IPv4 ranges. Undefined for anything else. */
export function addressRange(text: string): AddressRange | undefined {
  const [, address = '', digits = ''] = RANGE.exec(text) ?? [];
  const groups = groupsOf(address);
  const bits = Number(digits);
  if (groups === undefined || bits > groups.length * GROUP_BITS) return undefined;
  if (!isMapped(groups)) return { groups, bits };
  const rest = bits - MAPPED_GROUPS * GROUP_BITS;
  return rest < 0 ? undefined : { groups: groups.slice(MAPPED_GROUPS), bits: rest };
}

/** True when a normal IP literal lies in the range; never across address families. */
export function isInRange({ groups, bits }: AddressRange, address: string): boolean {
  const isSix = groups.length > 2;
  if (address.includes(':') !== isSix) return false;
  const other = isSix ? groupsOfIPv6(address) : groupsOfIPv4(address);
  for (let at = 0, rest = bits; rest > 0; at += 1, rest -= GROUP_BITS) {
    const shift = rest >= GROUP_BITS ? 0 : GROUP_BITS - rest;
    if ((groups[at] ?? 0) >>> shift !== (other[at] ?? 0) >>> shift) return false;
  }
  return true;
}

const isMapped = (groups: readonly number[]): boolean =>
  groups.length > MAPPED_GROUPS &&
  groups[MAPPED_GROUPS - 1] === MAPPED_MARK &&
  groups.slice(0, 5).every((group) => group === 0);

function groupsOf(address: string): number[] | undefined {
  if (isIPv4(address)) return groupsOfIPv4(address);
  return isIPv6(address) && !address.includes('%') ? groupsOfIPv6(address) : undefined;
}

function groupsOfIPv4(address: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

/** One pass over the text: this runs for every address and range. */
function groupsOfIPv6(address: string): number[] {
  if (address.includes('.')) return groupsOfIPv6(withoutDots(address));
  const groups: number[] = [];
  let gap = -1;
  let group = -1;
  for (let at = 0; at < address.length; at += 1) {
    const code = address.charCodeAt(at);
    if (code !== COLON) {
      group = (group < 0 ? 0 : group << 4) | digitOf(code);
      continue;
    }
    if (group >= 0) groups.push(group);
    else if (at > 0) gap = groups.length;
    group = -1;
  }
  if (group >= 0) groups.push(group);
  return gap < 0 ? groups : groups.toSpliced(gap, 0, ...new Array<number>(8 - groups.length).fill(0));
}

const COLON = 0x3a;
const NINE = 0x39;
/** Value of a hexadecimal digit: `0` to `9`, `a` to `f` and `A` to `F`. */
const digitOf = (code: number): number => (code <= NINE ? code - 0x30 : (code | 0x20) - 0x57);

/** Converts the last 32 bits from dotted to hexadecimal notation. */
function withoutDots(address: string): string {
  const start = address.lastIndexOf(':') + 1;
  const [high = 0, low = 0] = groupsOfIPv4(address.slice(start));
  return `${address.slice(0, start)}${high.toString(16)}:${low.toString(16)}`;
}
