import { ownerKey } from '../../../domain/invocation/call-owner.ts';
import { isWanted } from '../../../domain/invocation/log-message.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { McpServer, Watch } from '../../mcp-server.ts';
import { oneListener } from '../one-listener.ts';
import type { CachedOffers } from '../servers/cached-offers.ts';
import type { UpstreamLog, UpstreamLogs } from '../upstream-logs.port.ts';
import type { ClientLogs } from './log-messages.ts';

/** Dependencies of the log messages of sessions. */
export interface SessionLogParts {
  readonly layer: ToolLayer;
  readonly log: Log;
  readonly offers: Pick<CachedOffers, 'of'>;
  readonly logs: Pick<ClientLogs, 'levelOf'>;
  readonly upstreamLogs: UpstreamLogs;
  /** The upstream that is shown alone; undefined: all. */
  readonly upstream: string | undefined;
}

/**
 * Sends a session the log messages of upstreams that belong to no call, once its client has set a level: those of
 * upstreams of its own tenant that its token sees (EXE-07). 2026-07-28 has log messages of requests alone.
 */
export function withSessionLogs(parts: SessionLogParts, watch: McpServer['watch']): McpServer['watch'] {
  const { upstreamLogs, upstream, logs, log } = parts;
  return async (wish, caller, notify, can) => {
    const inner = await watch(wish, caller, notify, can);
    const take = async (logged: UpstreamLog, listener: Caller): Promise<void> => {
      const { level, logger, data } = logged.message;
      if (!(await isSeen(parts, logged, listener))) return;
      const named = [...(upstream === undefined ? [logged.upstream] : []), ...(logger === undefined ? [] : [logger])];
      notify('notifications/message', { level, ...(named.length === 0 ? {} : { logger: named.join('/') }), data });
    };
    const listening = oneListener((listener) =>
      upstreamLogs.listen((logged) => {
        const least = logs.levelOf(outer);
        const isHere = upstream === undefined || upstream === logged.upstream;
        if (least === undefined || !isHere || !isWanted(logged.message.level, least)) return;
        take(logged, listener).catch((cause: unknown) => log.debug('mcp-log-not-passed', { cause }));
      }),
    );
    const outer: Watch = {
      ...inner,
      async listen(listener) {
        await Promise.all([listening.listen(listener), inner.listen(listener)]);
      },
      [Symbol.dispose]() {
        listening[Symbol.dispose]();
        inner[Symbol.dispose]();
      },
    };
    return outer;
  };
}

/** Asks anew each time: the token may have ended, or what it covers may have changed. */
async function isSeen({ layer, offers }: SessionLogParts, logged: UpstreamLog, caller: Caller): Promise<boolean> {
  const { tenant_id: tenantId, agent_did: agentDid, user_did: userDid } = await layer.ask('tokens.inspect', {}, caller);
  // A server of the catalogue may say what callers of other tenants do.
  if (tenantId !== logged.tenantId) return false;
  if (logged.owner !== undefined && logged.owner !== ownerKey({ tenantId, agentDid, userDid })) return false;
  return (await offers.of(caller)).server(logged.upstream) !== undefined;
}
