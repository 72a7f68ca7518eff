import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { StoredUpstream, UpstreamStore } from '../../upstream-store.port.ts';

/** The upstreams of this instance, and how one of them is brought to what the store holds. */
export interface RunningHere {
  /** By tenant and name. */
  readonly tenants: ReadonlyMap<string, ReadonlyMap<string, { definition(): UpstreamDefinition }>>;
  agree(tenantId: string, name: string): Promise<void>;
}

/**
 * Makes a look for upstreams that another instance added, changed or removed. Each is brought to what is stored in the
 * background, since one that starts slowly must not delay the end of another.
 */
export function lookElsewhere(
  store: Pick<UpstreamStore, 'print' | 'loadAll'>,
  here: RunningHere,
  log: Log,
): () => Promise<void> {
  const underWay = new Set<string>();
  let agreed: string | undefined;
  const agree = async (key: string, { tenantId, definition: { name } }: StoredUpstream): Promise<void> => {
    underWay.add(key);
    try {
      await here.agree(tenantId, name);
    } catch (thrown) {
      log.warn('upstream-not-agreed', { upstream: name, error: String(thrown) });
    } finally {
      underWay.delete(key);
    }
  };
  return async () => {
    const print = await store.print();
    if (print === agreed) return;
    const stored = byKey(await store.loadAll());
    const running = byKey(runningIn(here));
    const different = [...new Map([...stored, ...running])].filter(
      ([key]) => !isSameDefinition(stored.get(key)?.definition, running.get(key)?.definition),
    );
    if (different.length === 0) agreed = print;
    for (const [key, upstream] of different) if (!underWay.has(key)) void agree(key, upstream);
  };
}

/** True for two definitions with equal members, and for two that are absent. */
export function isSameDefinition(one: UpstreamDefinition | undefined, other: UpstreamDefinition | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return canonicalJson(one) === canonicalJson(other);
}

const byKey = (upstreams: Iterable<StoredUpstream>): Map<string, StoredUpstream> =>
  new Map([...upstreams].map((each) => [JSON.stringify([each.tenantId, each.definition.name]), each]));

const runningIn = ({ tenants }: RunningHere): readonly StoredUpstream[] =>
  [...tenants].flatMap(([tenantId, known]) =>
    [...known.values()].map((each) => ({ tenantId, definition: each.definition() })),
  );
