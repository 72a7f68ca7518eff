import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import type { NetworkPermission } from '../../api/schemas/tool-manifest.ts';
import { ToolLayerError } from '../domain/error/tool-layer-error.ts';
import { classifyAddress } from '../screens/check-url.ts';

/** Finds the addresses of a name; rejects when there are none. */
export type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>;

/** Where a request may go. */
export interface EgressTarget {
  /** Lower case, without the brackets of an IPv6 literal. */
  readonly host: string;
  readonly port: number;
}

/** Decides where the layer's own requests may go, so that a tool cannot make it speak to what only it can reach. */
export interface EgressGuard {
  /**
   * The target of a URL, when the grant names exactly that host and port.
   * @throws ToolLayerError E3104 when it does not, or for an address that is not public
   */
  admit(url: URL, allowed: readonly NetworkPermission[]): EgressTarget;
  /**
   * Addresses to connect to. The caller connects to one of these and looks up nothing itself, so that a name cannot
   * lead elsewhere between the check and the connection.
   * @throws ToolLayerError E3104 when one of them is not public, E3310 when the name has no address
   */
  resolve(host: string): Promise<readonly LookupAddress[]>;
}

/** Names for the machine itself. A grant that names one of them means loopback, and loopback only. */
const LOOPBACK_NAME = 'localhost';

/**
 * Makes a guard.
 *
 * Private, loopback, link-local, shared (CGNAT), documentation, multicast and metadata addresses are refused, also when
 * wrapped in IPv6. There are two exceptions, both only because the grant says so in so many words: an IP literal, and
 * `localhost`, which may lead to loopback addresses.
 * @param resolveHost the system's resolver when absent
 */
export function createEgressGuard(resolveHost: ResolveHost = systemResolve): EgressGuard {
  return {
    admit(url, allowed) {
      const target = targetOf(url);
      if (!allowed.some(({ host, port }) => port === target.port && bareHost(host) === target.host)) {
        throw outside(`${url.host} is not among the addresses that this call may reach.`, { ...target });
      }
      return target;
    },
    async resolve(host) {
      // The grant named this very literal: see admit().
      if (isIP(host) !== 0) return [{ address: host, family: isIPv6(host) ? 6 : 4 }];
      const addresses = await resolveHost(host).catch((cause: unknown) => {
        throw noAddress(host, cause);
      });
      if (addresses.length === 0) throw noAddress(host);
      const isAllowed = host === LOOPBACK_NAME ? isLoopback : isPublic;
      if (addresses.every(({ address }) => isAllowed(address))) return addresses;
      throw outside(`${host} leads to an address that is not public. Name the IP address itself if that is meant.`, {
        host,
      });
    },
  };
}

/** Whether an IP address belongs to the public internet. */
export function isPublic(address: string): boolean {
  return classifyAddress(address) === 'public';
}

function isLoopback(address: string): boolean {
  return classifyAddress(address) === 'loopback';
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
  new ToolLayerError('E3310', `The name ${host} has no address. Check the base URL of the tool.`, { cause });

const systemResolve: ResolveHost = (host) => systemLookup(host, { all: true, verbatim: true });
