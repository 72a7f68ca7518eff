import { type AddressClass, classOf, unmapped } from './address-classes.ts';
import { type AddressRange, isWithin, parseRange } from './address-range.ts';
import { type IpAddress, parseAddress } from './parse-address.ts';

/** Where a URL may lead. Deny wins over allow. */
export interface UrlPolicy {
  /** Without the colon. Default `http` and `https`. */
  readonly schemes?: readonly string[];
  /**
   * True when loopback, private and shared (CGNAT) addresses are allowed; other non-public ones never are. Default
   * false.
   */
  readonly allowPrivate?: boolean;
  /**
   * When given, only these hosts are allowed: names, `*.name` for names below it, IP literals. An exact entry widens
   * the rules: an IP literal may be any address, `localhost` may lead to loopback addresses; other names must still
   * lead to allowed addresses.
   */
  readonly allowedHosts?: readonly string[];
  /** In the same form. */
  readonly deniedHosts?: readonly string[];
  /** Addresses allowed whatever their class: `address`, `address/prefix`, either with `:port` (IPv6 in brackets). */
  readonly allowedAddresses?: readonly string[];
  /** In the same form. */
  readonly deniedAddresses?: readonly string[];
  /** Default: every port except 0. */
  readonly ports?: readonly number[];
  /**
   * True when a user name or password in the URL is allowed. Default false: parsers disagree about the text before the
   * `@`.
   */
  readonly allowCredentials?: boolean;
}

/** A parsed policy. */
export interface ReadPolicy {
  readonly schemes: ReadonlySet<string>;
  readonly allowPrivate: boolean;
  readonly allowCredentials: boolean;
  readonly ports: ReadonlySet<number> | undefined;
  readonly allowedHosts: HostList | undefined;
  readonly deniedHosts: HostList;
  readonly allowedAddresses: AddressList;
  readonly deniedAddresses: AddressList;
}

/** How a list names a host: exactly, or by a pattern. */
export type HostList = (host: string) => 'exactly' | 'by-pattern' | undefined;
/** True when a list contains an address. Without a port, rows with a port do not count. */
export type AddressList = (address: IpAddress, port: number | undefined) => boolean;

/** Policies are few and long-lived, so each is parsed once; the result is garbage-collected with the policy. */
const READ = new WeakMap<UrlPolicy, ReadPolicy>();

/** @throws TypeError for an invalid address or range: an unreadable rule must not be ignored */
export function readPolicy(policy: UrlPolicy): ReadPolicy {
  const known = READ.get(policy);
  if (known !== undefined) return known;
  const { schemes = ['http', 'https'], ports, allowedHosts, deniedHosts = [] } = policy;
  const read: ReadPolicy = {
    schemes: new Set(schemes.map((scheme) => scheme.toLowerCase().replace(/:$/, ''))),
    allowPrivate: policy.allowPrivate ?? false,
    allowCredentials: policy.allowCredentials ?? false,
    ports: ports === undefined ? undefined : new Set(ports),
    allowedHosts: allowedHosts === undefined ? undefined : hostList(allowedHosts),
    deniedHosts: hostList(deniedHosts),
    allowedAddresses: addressList(policy.allowedAddresses ?? []),
    deniedAddresses: addressList(policy.deniedAddresses ?? []),
  };
  READ.set(policy, read);
  return read;
}

/** Lower case, without brackets and without dots at the end. */
export const bareHost = (host: string): string => {
  const lower = host.toLowerCase();
  if (lower.startsWith('[')) return lower.slice(1, -1);
  return lower.endsWith('.') ? lower.replace(/\.{1,255}$/, '') : lower;
};

function hostList(hosts: readonly string[]): HostList {
  const exact = new Set<string>();
  const below: string[] = [];
  for (const host of hosts) {
    if (host.startsWith('*.')) below.push(bareHost(host.slice(1)));
    else exact.add(canonical(bareHost(host)));
  }
  return (host) => {
    if (exact.has(host)) return 'exactly';
    return below.some((suffix) => host.endsWith(suffix)) ? 'by-pattern' : undefined;
  };
}

/** An IPv6 literal as URLs write it, so that each address has one spelling in a list. */
function canonical(host: string): string {
  return host.includes(':') && URL.canParse(`http://[${host}]/`)
    ? bareHost(new URL(`http://[${host}]/`).hostname)
    : host;
}

function addressList(texts: readonly string[]): AddressList {
  if (texts.length === 0) return () => false;
  const rows = texts.map(addressRow);
  return (address, port) => {
    const plain = unmapped(address);
    return rows.some((row) => (row.port === undefined || row.port === port) && isWithin(plain, row.range));
  };
}

function addressRow(text: string): { readonly range: AddressRange; readonly port: number | undefined } {
  const found = /^\[([^\]]{1,64})\](?::(\d{1,5}))?$/.exec(text) ?? /^([\d./]{1,32})(?::(\d{1,5}))?$/.exec(text);
  const range = parseRange(found?.[1] ?? text);
  if (range === undefined) throw new TypeError(`A URL policy names '${text}', which is no address and no range.`);
  return { range, port: found?.[2] === undefined ? undefined : Number(found[2]) };
}

/**
 * Checks whether a policy lets a connection go to an address.
 * @returns the reason of a refusal, or undefined
 */
export function addressRefusal(text: string, policy: ReadPolicy, port?: number): string | undefined {
  const address = parseAddress(text);
  if (address === undefined) return `${text.slice(0, 64)} is not an IP address in its plain form`;
  return refusalOf(address, classOf(address), text, policy, port);
}

/** As above, for an address that was parsed and classified before. */
export function refusalOf(
  address: IpAddress,
  found: AddressClass,
  text: string,
  policy: ReadPolicy,
  port: number | undefined,
): string | undefined {
  if (policy.deniedAddresses(address, port)) return `${text} is denied`;
  if (found === 'public' || policy.allowedAddresses(address, port)) return undefined;
  if (policy.allowPrivate && (found === 'private' || found === 'loopback' || found === 'shared')) return undefined;
  return `${text} is not public (${found})`;
}
