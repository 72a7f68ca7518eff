import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import { type Follower, followPrints } from '../pacing/follow-prints.ts';
import type { UpstreamsParts } from '../upstreams-parts.ts';

/** An upstream of this instance, as far as its logins go. */
interface ConnectedUpstream {
  definition(): UpstreamDefinition;
  /** Whose connections are open; undefined for the one that all callers share. */
  holders(): Iterable<string | undefined>;
}

/** The upstreams of this instance, and what ends the connections of one login. */
export interface ConnectedHere {
  /** By tenant and name. */
  readonly tenants: ReadonlyMap<string, ReadonlyMap<string, ConnectedUpstream>>;
  endLogin(tenantId: string, name: string, holder: string | undefined): Promise<void>;
}

/** Makes a follower of logins that another instance ended or replaced: connections, streams and subscriptions end. */
export function followLogins({ logins, log }: Pick<UpstreamsParts, 'logins' | 'log'>, here: ConnectedHere): Follower {
  const { tenants } = here;
  return followPrints(
    {
      name: 'logins',
      prints: () =>
        logins.prints(
          [...tenants].flatMap(([tenantId, known]) =>
            [...known.values()].flatMap((upstream) =>
              [...upstream.holders()].map((holder) => ({ tenantId, definition: upstream.definition(), holder })),
            ),
          ),
        ),
      here: () => [],
      async agree({ tenantId, name }) {
        const [upstream, holder] = JSON.parse(name) as [string, string?];
        const definition = tenants.get(tenantId)?.get(upstream)?.definition();
        if (definition === undefined || !(await logins.isOver(tenantId, definition, holder))) return;
        log.info('upstream-login-ended-elsewhere', { upstream });
        await here.endLogin(tenantId, upstream, holder);
      },
    },
    log,
  );
}
