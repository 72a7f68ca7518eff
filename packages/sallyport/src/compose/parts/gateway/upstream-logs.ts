import type { Clock } from '@sallyport/std/clock';
import { LRUCache } from 'lru-cache';
import type { LogListener } from '../../../domain/invocation/log-message.ts';
import type { UpstreamLog, UpstreamLogs } from '../../../doors/mcp-gateway/upstream-logs.port.ts';
import type { Upstreams } from '../../../mcp-servers/upstreams.ts';
import type { PipelineParts } from '../../../pipeline/parts.ts';
import { boundedLogs } from '../../../pipeline/stages/attempts/towards-client.ts';

/** Most connections whose messages are counted at once. */
const COUNTED_MAX = 1_000;

/** The log messages of upstreams that belong to no call, each connection bounded like a call. */
export function upstreamLogsOf(
  upstreams: Pick<Upstreams, 'onLogged'>,
  clock: Clock,
  redactor: PipelineParts['redactor'],
): UpstreamLogs {
  return {
    listen(onLog) {
      const bounded = new LRUCache<string, LogListener>({ max: COUNTED_MAX });
      const stop = upstreams.onLogged((tenantId, upstream, message, owner) => {
        const of: Omit<UpstreamLog, 'message'> = {
          tenantId,
          upstream,
          ...(owner === undefined ? {} : { owner }),
        };
        const key = JSON.stringify(of);
        const listener =
          bounded.get(key) ??
          boundedLogs({ level: undefined, take: (cleaned) => onLog({ ...of, message: cleaned }) }, clock, redactor);
        bounded.set(key, listener);
        listener.take(message);
      });
      return { [Symbol.dispose]: stop };
    },
  };
}
