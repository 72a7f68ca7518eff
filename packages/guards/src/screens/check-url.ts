import { type AddressClass, classifyAddress, classOf } from './address/address-classes.ts';
import { classOfName } from './address/host-names.ts';
import { type IpAddress, parseAddress } from './address/parse-address.ts';
import {
  addressRefusal,
  bareHost,
  type ReadPolicy,
  readPolicy,
  refusalOf,
  type UrlPolicy,
} from './address/url-policy.ts';

export type { AddressClass, UrlPolicy };
export { classifyAddress };

/** Resolves a name to addresses; rejects, or returns none, when it has none. */
export type Resolver = (host: string) => Promise<readonly string[]>;

/** Result of checking a URL. */
export interface UrlVerdict {
  readonly allowed: boolean;
  /** A sentence; present only when not allowed. */
  readonly why?: string;
  /**
   * The URL as it was understood. Request this, not the text, which others may parse differently. Empty when it is no
   * URL.
   */
  readonly href: string;
  /** Lower case, without brackets and without dots at the end; empty when there is none. */
  readonly host: string;
  /** Port; the scheme's default when the URL names none; 0 when neither does. */
  readonly port: number;
  /** Class of the literal, or of the name alone; `public` for a name says nothing about its addresses. */
  readonly addressClass: AddressClass;
}

/** A verdict with the addresses of the host; empty when not allowed. */
export interface ResolvedUrlVerdict extends UrlVerdict {
  /** All of them were checked. Connect to these without another lookup. */
  readonly addresses: readonly string[];
}

/** Longest URL that is judged, in characters. */
const URL_CHARS_MAX = 16_384;
/** Most addresses of one name that are checked; a name with more is refused. */
const ADDRESSES_MAX = 256;
const DEFAULT_POLICY: UrlPolicy = {};
const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'ws:': 80,
  'wss:': 443,
  'ftp:': 21,
};
/** Four decimal numbers as the host, as they were written. */
const PADDED = /^[^:]{1,32}:[/\\]{0,8}(?:[^/\\?#]{0,512}@)?(\d{1,40}\.\d{1,40}\.\d{1,40}\.\d{1,40})\.?(?![\w.])/;
/** Parsers disagree on these before the query: WHATWG drops or converts them, others end the host there. */
const AMBIGUOUS = /[\p{Cc}\\]/u;

/**
 * Checks whether a URL may be requested, by its text alone (EXE-05). It is parsed like the platform's parser, so
 * decimal, octal, hexadecimal, short, full-width and percent-encoded forms of an address are that address. A name may
 * still lead anywhere: see `checkUrlResolved`.
 * @param url absolute; first resolve a `Location` header against the URL before it
 * @throws TypeError for a policy with an invalid address
 */
export function checkUrl(url: string, policy: UrlPolicy = DEFAULT_POLICY): UrlVerdict {
  const read = readPolicy(policy);
  const parsed = url.length <= URL_CHARS_MAX ? parse(url) : undefined;
  if (parsed === undefined) return { ...refusal('it is not an absolute URL, or is too long'), ...NOWHERE };
  const host = hostOf(parsed);
  const port = parsed.port === '' ? (DEFAULT_PORTS[parsed.protocol] ?? 0) : Number(parsed.port);
  const address = parseAddress(host);
  const addressClass = address === undefined ? classOfName(host) : classOf(address);
  const why =
    formRefusal(url, parsed, read) ??
    zerosRefusal(url, address) ??
    portRefusal(port, read) ??
    hostRefusal({ host, port, address, addressClass }, read);
  const seen = { href: parsed.href, host, port, addressClass };
  return why === undefined ? { allowed: true, ...seen } : { ...refusal(why), ...seen };
}

/**
 * As checkUrl, with the name looked up: all addresses must be allowed. The dialer calls `addressAllowed` again for the
 * address that it connects to, so that a name that changes in between leads nowhere.
 * @returns not allowed also when the name has no address or the resolver rejects
 */
export async function checkUrlResolved(
  url: string,
  resolver: Resolver,
  policy: UrlPolicy = DEFAULT_POLICY,
): Promise<ResolvedUrlVerdict> {
  const verdict = checkUrl(url, policy);
  if (!verdict.allowed) return { ...verdict, addresses: [] };
  const { host, port } = verdict;
  if (parseAddress(host) !== undefined) return { ...verdict, addresses: [host] };
  const addresses = await resolver(host).catch(() => []);
  const why = lookupRefusal(host, port, addresses, readPolicy(policy));
  if (why === undefined) return { ...verdict, addresses };
  return { ...verdict, ...refusal(why), addresses: [] };
}

/**
 * Checks whether a connection may go to an address: for a dialer's hook, right before it connects.
 * @param port for a policy that allows or denies an address at one port
 */
export function addressAllowed(address: string, policy: UrlPolicy = DEFAULT_POLICY, port?: number): boolean {
  return addressRefusal(address, readPolicy(policy), port) === undefined;
}

const NOWHERE = { href: '', host: '', port: 0, addressClass: 'invalid' } as const;

const refusal = (why: string): { readonly allowed: false; readonly why: string } => ({ allowed: false, why });

function parse(url: string): URL | undefined {
  return URL.parse(url) ?? undefined;
}

/** Hosts of schemes unknown to the URL standard are kept unparsed, so they are parsed like those of http. */
function hostOf({ protocol, hostname }: URL): string {
  if (protocol in DEFAULT_PORTS || hostname === '') return bareHost(hostname);
  return bareHost(URL.parse(`http://${hostname}/`)?.hostname ?? '');
}

function formRefusal(url: string, parsed: URL, { schemes, allowCredentials }: ReadPolicy): string | undefined {
  const scheme = parsed.protocol.slice(0, -1);
  if (!schemes.has(scheme)) return `the scheme ${scheme.slice(0, 32)} is not among ${[...schemes].join(', ')}`;
  const query = url.search(/[?#]/);
  if (AMBIGUOUS.test((query === -1 ? url : url.slice(0, query)).trim())) {
    return 'it holds a backslash or a control character, which others read otherwise';
  }
  if (hasSecondHost(url, query)) return 'it holds a second host behind an @, which others may request instead';
  if (!allowCredentials && (parsed.username !== '' || parsed.password !== '')) {
    return 'it holds a user name or a password before the host';
  }
  return undefined;
}

/** `http://one.example#@127.0.0.1/`: some parsers take everything before the `@` for a user name. */
function hasSecondHost(url: string, query: number): boolean {
  const at = query === -1 ? -1 : url.indexOf('@', query);
  if (at === -1 || url.slice(url.indexOf('//') + 2, at).includes('/')) return false;
  const host = bareHost(URL.parse(`http://${url.slice(at + 1)}`)?.hostname ?? '');
  return host !== '' && (parseAddress(host) === undefined ? classOfName(host) : classifyAddress(host)) !== 'public';
}

/** `0127.0.0.1` is octal to this platform, and 127.0.0.1 to readers that drop zeros (RFC 6943 3.1.1). */
function zerosRefusal(url: string, address: IpAddress | undefined): string | undefined {
  if (address?.family !== 4) return undefined;
  const padded = PADDED.exec(url)?.[1];
  const decimal = padded?.replace(/(?:^|(?<=\.))0+(?=\d)/g, '');
  if (decimal === padded || decimal === undefined || classifyAddress(decimal) === 'public') return undefined;
  return `${padded} is ${decimal} to readers that drop the zeros`;
}

function portRefusal(port: number, { ports }: ReadPolicy): string | undefined {
  if (port === 0) return 'it names no port, or port 0';
  return ports === undefined || ports.has(port) ? undefined : `port ${port} is not among the allowed ones`;
}

interface Target {
  readonly host: string;
  readonly port: number;
  /** Undefined for a name. */
  readonly address: IpAddress | undefined;
  readonly addressClass: AddressClass;
}

function hostRefusal({ host, port, address, addressClass }: Target, policy: ReadPolicy): string | undefined {
  if (host === '' || host.startsWith('.') || host.includes('..')) return 'it has no host, or one with an empty label';
  if (policy.deniedHosts(host) !== undefined) return `the host ${host} is denied`;
  const named = policy.allowedHosts?.(host);
  if (policy.allowedHosts !== undefined && named === undefined) return `the host ${host} is not among the allowed ones`;
  if (address !== undefined) {
    return refusalOf(address, named === 'exactly' ? 'public' : addressClass, host, policy, port);
  }
  if (addressClass === 'public' || named === 'exactly') return undefined;
  if (policy.allowPrivate && addressClass !== 'metadata') return undefined;
  return `the name ${host} is not public (${addressClass})`;
}

function lookupRefusal(
  host: string,
  port: number,
  addresses: readonly string[],
  policy: ReadPolicy,
): string | undefined {
  if (addresses.length === 0) return `the name ${host} has no address`;
  if (addresses.length > ADDRESSES_MAX) return `the name ${host} has more than ${ADDRESSES_MAX} addresses`;
  const isLocalhost = host === 'localhost' && policy.allowedHosts?.(host) === 'exactly';
  for (const address of addresses) {
    if (isLocalhost && classifyAddress(address) === 'loopback') continue;
    const why = isLocalhost ? `${address.slice(0, 64)} is not loopback` : addressRefusal(address, policy, port);
    if (why !== undefined) return `the name ${host} leads to an address that is not allowed: ${why}`;
  }
  return undefined;
}
