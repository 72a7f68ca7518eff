import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import { type Follower, followPrints } from '../pacing/follow-prints.ts';
import type { UpstreamsParts } from '../upstreams-parts.ts';

/** The upstreams of this instance, and how one of them is brought to what the store holds. */
interface RunningHere {
  /** By tenant and name. */
  readonly tenants: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
  agree(tenantId: string, name: string): Promise<void>;
}

/** Makes a follower of the upstreams that other instances add, change or remove. */
export function followUpstreams({ store, log }: Pick<UpstreamsParts, 'store' | 'log'>, here: RunningHere): Follower {
  return followPrints(
    {
      name: 'upstreams',
      prints: () => store.prints(),
      here: () =>
        [...here.tenants].flatMap(([tenantId, known]) => [...known.keys()].map((name) => ({ tenantId, name }))),
      agree: ({ tenantId, name }) => here.agree(tenantId, name),
    },
    log,
  );
}

/** True for two definitions with equal members, and for two that are absent. */
export function isSameDefinition(one: UpstreamDefinition | undefined, other: UpstreamDefinition | undefined): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null);
}
