import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import { type Follower, followPrints } from '../pacing/follow-prints.ts';
import type { UpstreamsParts } from '../upstreams-parts.ts';
import { type ConnectedHere, followLogins } from './follow-logins.ts';

/** The upstreams of this instance, and how one of them is brought to what the store holds. */
interface RunningHere extends ConnectedHere {
  agree(tenantId: string, name: string): Promise<void>;
}

/** Makes a follower of the upstreams that other instances add, change or remove, and of their logins that end there. */
export function followUpstreams(parts: Pick<UpstreamsParts, 'store' | 'logins' | 'log'>, here: RunningHere): Follower {
  const { store, log } = parts;
  const logins = followLogins(parts, here);
  const upstreams = followPrints(
    {
      name: 'upstreams',
      prints: () => store.prints(),
      here: () =>
        [...here.tenants].flatMap(([tenantId, known]) => [...known.keys()].map((name) => ({ tenantId, name }))),
      agree: ({ tenantId, name }) => here.agree(tenantId, name),
    },
    log,
  );
  return {
    agreed: upstreams.agreed,
    follow(intervalMs) {
      const following = new AsyncDisposableStack();
      for (const each of [upstreams, logins]) following.use(each.follow(intervalMs));
      return following;
    },
  };
}

/** True for two definitions with equal members, and for two that are absent. */
export function isSameDefinition(one: UpstreamDefinition | undefined, other: UpstreamDefinition | undefined): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null);
}
