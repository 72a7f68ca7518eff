import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import { addressAllowed, checkUrl, classifyAddress, type UrlPolicy } from '@sallyport/guards';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { NetworkPermission } from '../../api/schemas/tool-manifest.ts';

/** Finds the addresses of a name; rejects when there are none. */
export type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>;

/** Where a request may go. */
export interface EgressTarget {
  /** Lower case, without the brackets of an IPv6 literal. */
  readonly host: string;
  readonly port: number;
}

/**
 * Decides where the layer's own requests may go, so that a tool cannot make the layer reach addresses that only the
 * layer can reach.
 */
export interface EgressGuard {
  /**
   * The target of a URL, when the grant permits its host and port: by exact name, by `*.name` for names below it, or by
   * `*` for any public host; port 0 stands for any. A target permitted only by a pattern must be public by name or
   * address: patterns never cover `localhost`, internal names, or non-public addresses.
   * @throws ToolLayerError E3104 when it is not permitted
   */
  admit(url: URL, allowed: readonly NetworkPermission[]): EgressTarget;
  /**
   * Addresses to connect to. The caller connects to one of these without a lookup of its own, so that a name cannot
   * lead elsewhere between check and connection.
   * @throws ToolLayerError E3104 when one of them is not allowed, E3310 when the name has no address
   */
  resolve(target: EgressTarget): Promise<readonly LookupAddress[]>;
}

/** Dependencies of a guard; everything has a default. */
export interface EgressGuardParts {
  /** Default: the system's resolver. */
  readonly resolveHost?: ResolveHost;
  /** An operator's additions to the rules below; hosts are those of the grant, whatever it lists. */
  readonly policy?: Omit<UrlPolicy, 'allowedHosts'>;
}

/** Names for the machine itself. A grant that names one of them means loopback, and loopback only. */
const LOOPBACK_NAME = 'localhost';
const ANY_HOST = '*';
const ANY_PORT = 0;
/** Addresses of one name that are judged; a name with more is refused. */
const ADDRESSES_MAX = 256;

/**
 * Makes a guard.
 *
 * Private, loopback, link-local, shared (CGNAT), documentation, multicast and metadata addresses are refused, also when
 * wrapped in IPv6. There are two exceptions, both only because the grant says so in so many words: an IP literal, and
 * `localhost`, which may lead to loopback addresses. An operator's policy can allow further addresses, and deny any.
 * @throws TypeError for a policy that names an address which is none
 */
export function createEgressGuard({ resolveHost = systemResolve, policy }: EgressGuardParts = {}): EgressGuard {
  const rules: UrlPolicy = policy ?? {};
  // Evaluated once here, so that an invalid address in a policy is reported to its author.
  addressAllowed('127.0.0.1', rules);
  return {
    admit(url, allowed) {
      const target = targetOf(url);
      const opened = openedBy(target, allowed);
      if (opened === undefined) {
        throw outside(`${url.host} is not among the addresses that this call may reach.`, { ...target });
      }
      // Common case: a host named in the grant, and no further policy.
      if (opened === 'name' && policy === undefined) return target;
      const named = opened === 'name' ? { ...rules, allowedHosts: [target.host] } : rules;
      const { why } = checkUrl(`${url.protocol}//${url.host}/`, named);
      if (why === undefined) return target;
      throw outside(`${url.host} may not be reached: ${why}.`, { ...target });
    },
    async resolve({ host, port }) {
      // The grant named exactly this literal, or it is public: see admit().
      if (isIP(host) !== 0) return [{ address: host, family: isIPv6(host) ? 6 : 4 }];
      const addresses = await resolveHost(host).catch((cause: unknown) => {
        throw noAddress(host, cause);
      });
      if (addresses.length === 0) throw noAddress(host);
      const isAllowed = ({ address }: LookupAddress): boolean =>
        (host === LOOPBACK_NAME && classifyAddress(address) === 'loopback') ||
        (host !== LOOPBACK_NAME && addressAllowed(address, rules, port));
      if (addresses.length <= ADDRESSES_MAX && addresses.every(isAllowed)) return addresses;
      throw outside(`${host} leads to an address that is not public. Name the IP address itself if that is meant.`, {
        host,
        port,
      });
    },
  };
}

/** True for addresses of the public internet. */
export function isPublic(address: string): boolean {
  return classifyAddress(address) === 'public';
}

/** True when a row of a grant is a pattern, not a single host. */
export function isHostPattern(host: string): boolean {
  return host.startsWith(ANY_HOST);
}

function openedBy({ host, port }: EgressTarget, allowed: readonly NetworkPermission[]): 'name' | 'pattern' | undefined {
  let opened: 'pattern' | undefined;
  for (const row of allowed) {
    if (row.port !== port && row.port !== ANY_PORT) continue;
    if (bareHost(row.host) === host) return 'name';
    if (isHostPattern(row.host) && fitsPattern(host, row.host.toLowerCase())) opened = 'pattern';
  }
  return opened;
}

function fitsPattern(host: string, pattern: string): boolean {
  if (pattern === ANY_HOST) return true;
  return pattern.startsWith('*.') && pattern.length > 2 && isIP(host) === 0 && host.endsWith(pattern.slice(1));
}

/** Host and port of a URL; the port of the scheme when it names none. */
function targetOf(url: URL): EgressTarget {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { host: bareHost(url.hostname), port };
}

const bareHost = (host: string): string => host.toLowerCase().replace(/^\[|\]$/g, '');

const outside = (message: string, details: Record<string, unknown>): ToolLayerError =>
  new ToolLayerError('E3104', message, { details });

const noAddress = (host: string, cause?: unknown): ToolLayerError =>
  new ToolLayerError('E3310', `The name ${host} has no address. Check the URL.`, { cause });

const systemResolve: ResolveHost = (host) => systemLookup(host, { all: true, verbatim: true });
