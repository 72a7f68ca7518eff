import { type IpAddress, parseAddress } from './parse-address.ts';

/** A block of addresses: those that share its first bits. */
export interface AddressRange {
  readonly first: IpAddress;
  /** Length of the shared prefix, 0 to 32 or 128. */
  readonly prefix: number;
}

/** @returns undefined for a text that is neither an address nor `address/prefix` */
export function parseRange(text: string): AddressRange | undefined {
  const slash = text.indexOf('/');
  const first = parseAddress(slash === -1 ? text : text.slice(0, slash));
  if (first === undefined) return undefined;
  const longest = first.family === 4 ? 32 : 128;
  if (slash === -1) return { first, prefix: longest };
  const digits = text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(digits) || Number(digits) > longest) return undefined;
  return { first, prefix: Number(digits) };
}

export function isWithin(address: IpAddress, { first, prefix }: AddressRange): boolean {
  if (address.family === 4) return first.family === 4 && shares(address.bits, first.bits, prefix, 32);
  if (first.family === 4) return false;
  // Most rows differ in the first group already.
  if (prefix >= 16 && address.groups[0] !== first.groups[0]) return false;
  for (let at = 0, left = prefix; left > 0; at += 1, left -= 16) {
    if (!shares(address.groups[at] ?? 0, first.groups[at] ?? 0, Math.min(left, 16), 16)) return false;
  }
  return true;
}

/** Whether two numbers of `width` bits have the same first ones. */
function shares(one: number, other: number, first: number, width: number): boolean {
  return first === 0 || one >>> (width - first) === other >>> (width - first);
}
