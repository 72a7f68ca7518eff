import { isIP, isIPv4 } from 'node:net';
import type { NetworkPermission } from '@sallyport/std/permissions';
import type { HostRules } from './host-rules.ts';

/** What a sandbox must contain so that ordinary clients find their targets. */
export interface InsideView {
  /** Lines for /etc/hosts; empty when no name is needed. */
  readonly hosts: string;
  /** Addresses of IP literals that the loopback device must get. */
  readonly addresses: readonly string[];
  /** Where clients connect to inside, and where that leads. */
  readonly listeners: readonly InsideListener[];
  /** Variables for clients that can use a proxy; only when a pattern needs them. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A socket that listens inside. */
export interface InsideListener {
  readonly address: string;
  readonly port: number;
  /** Target of each connection; undefined for the proxy, whose clients name their target. */
  readonly target: NetworkPermission | undefined;
}

const LOCALHOST = 'localhost';
/** Far from the addresses of names. */
const PROXY = { address: '127.1.255.1', port: 3128 } as const;
const ADDRESSES_PER_BLOCK = 254;

/**
 * Plans the inside: each exactly named host has an address of its own in 127.1.0.0/16, which only the sandbox's own
 * loopback knows, so that any client reaches it under its plain name and port. Targets of patterns are not known in
 * advance, and go through a proxy.
 */
export function insideView({ exact, hasPatterns }: HostRules): InsideView {
  const addressOf = new Map<string, string>();
  for (const { host } of exact) {
    if (isIP(host) === 0 && host !== LOCALHOST && !addressOf.has(host))
      addressOf.set(host, nameAddress(addressOf.size));
  }
  const literals = new Set(exact.map(({ host }) => host).filter((host) => isIP(host) !== 0));
  const listeners: InsideListener[] = [];
  for (const target of exact) {
    for (const address of insideAddresses(target.host, addressOf)) {
      // `localhost` and `127.0.0.1` are one place inside; the first row wins.
      const isTaken = listeners.some((other) => other.address === address && other.port === target.port);
      if (!isTaken) listeners.push({ address, port: target.port, target });
    }
  }
  if (hasPatterns) listeners.push({ ...PROXY, target: undefined });
  return {
    hosts: [...addressOf].map(([host, address]) => `${address} ${host}\n`).join(''),
    addresses: [...literals].filter((address) => !isOwnLoopback(address)),
    listeners,
    environment: hasPatterns ? proxyEnvironment([...addressOf.keys(), ...literals]) : {},
  };
}

function insideAddresses(host: string, addressOf: ReadonlyMap<string, string>): readonly string[] {
  if (host === LOCALHOST) return ['127.0.0.1', '::1'];
  return [addressOf.get(host) ?? host];
}

/** The kernel answers on all of 127.0.0.0/8 by itself. */
const isOwnLoopback = (address: string): boolean =>
  address === '::1' || (isIPv4(address) && address.startsWith('127.'));

const nameAddress = (index: number): string =>
  `127.1.${Math.floor(index / ADDRESSES_PER_BLOCK)}.${(index % ADDRESSES_PER_BLOCK) + 1}`;

function proxyEnvironment(direct: readonly string[]): Record<string, string> {
  const proxy = `http://${PROXY.address}:${PROXY.port}`;
  const exceptions = [LOCALHOST, '127.0.0.1', '::1', ...direct].join(',');
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: exceptions,
    no_proxy: exceptions,
    // Node's own clients look at the variables above only then.
    NODE_USE_ENV_PROXY: '1',
  };
}
