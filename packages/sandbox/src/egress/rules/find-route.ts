import { checkUrlResolved, type Resolver, type UrlPolicy } from '@sallyport/guards';
import type { EgressBounds } from '../settings.ts';
import type { HostRules } from './host-rules.ts';

/** Addresses to connect to, all checked; or why there is no way, in a sentence. */
export type Route = { readonly addresses: readonly string[] } | { readonly why: string };

/** Finds the route to a target. */
export type FindRoute = (host: string, port: number) => Promise<Route>;

export interface RouteParts {
  readonly rules: HostRules;
  readonly policy: UrlPolicy;
  readonly resolver: Resolver;
  readonly bounds: Pick<EgressBounds, 'namesMax' | 'pinnedMs' | 'addressesTriedMax' | 'connectTimeoutMs'>;
}

interface Pin {
  readonly answer: Promise<readonly string[]>;
  readonly until: number;
}

/**
 * Routes of one sandbox. A name keeps its first addresses for as long as it is pinned; every address is checked again
 * for each port, and a disallowed one closes the name.
 */
export function routesOf({ rules, policy, resolver, bounds }: RouteParts): FindRoute {
  const pins = new Map<string, Pin>();
  const named: UrlPolicy = { ...policy, allowedHosts: rules.exact.map(({ host }) => host) };
  const pinned: Resolver = (host) => {
    const now = performance.now();
    const known = pins.get(host);
    if (known !== undefined && known.until > now) return known.answer;
    if (known === undefined && pins.size >= bounds.namesMax) return Promise.reject(new Error('too many names'));
    const answer = inTime(resolver, host, bounds.connectTimeoutMs);
    pins.set(host, { answer, until: now + bounds.pinnedMs });
    // A failed lookup may succeed later; a refusal is kept.
    answer.then(
      (addresses) => addresses.length === 0 && pins.delete(host),
      () => pins.delete(host),
    );
    return answer;
  };
  return async (host, port) => {
    if (!rules.allows(host, port)) return { why: `${host}:${port} is not among the addresses that are granted` };
    const bare = host.includes(':') ? `[${host}]` : host;
    const isExact = rules.exact.some((row) => row.host === host && row.port === port);
    const verdict = await checkUrlResolved(`http://${bare}:${port}/`, pinned, isExact ? named : policy);
    if (!verdict.allowed) return { why: verdict.why ?? `${host} is not allowed` };
    // The screen reads hosts as browsers do; what it reads otherwise than we wrote is not what was granted.
    if (verdict.host !== host) return { why: `${host} is not a host in its plain form` };
    return { addresses: verdict.addresses.slice(0, bounds.addressesTriedMax) };
  };
}

/** A resolver that never answers, or throws, counts as rejecting. */
async function inTime(resolver: Resolver, host: string, timeoutMs: number): Promise<readonly string[]> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, timeoutMs, new Error(`${host} was not found within ${timeoutMs} ms`));
  try {
    return await Promise.race([resolver(host), late]);
  } finally {
    clearTimeout(timer);
  }
}
