import {
  isLogLevel,
  isWanted,
  LEAST_BY_DEFAULT,
  LOG_LEVELS,
  type LogLevel,
  type LogListener,
} from '../../../domain/invocation/log-message.ts';
import { errorAnswer, notificationText, type Params, RPC, resultAnswer } from '../../json-rpc.ts';
import { META_LOG_LEVEL, metaOf } from '../../mcp-protocol.ts';
import type { Method, Peer, Watch } from '../../mcp-server.ts';

/** Log messages of tools for clients: what level each of them wants. */
export interface ClientLogs {
  /** `logging/setLevel` of the 2025 era: the level of a session. */
  readonly setLevel: readonly [string, Method];
  /** The level of a session; undefined when its client stated none. */
  levelOf(watch: Watch): LogLevel | undefined;
  /**
   * The listener of one call; undefined when its client wants no log messages.
   * @param latest parameters of the request that waits for the call now
   */
  listenerFor(peer: Peer, latest: () => Params): LogListener | undefined;
}

/** Makes the log messages of one gateway; no session has stated a level. */
export function createClientLogs(): ClientLogs {
  const levels = new WeakMap<Watch, LogLevel>();
  const levelOf = (watch: Watch): LogLevel | undefined => levels.get(watch);
  const setLevel: Method = async ({ id, params }, { watch }) => {
    const { level } = params;
    if (!isLogLevel(level)) return errorAnswer(id, RPC.invalidParams, `The member level must be ${LEVELS}.`);
    if (watch !== undefined) levels.set(watch, level);
    return resultAnswer(id, '{}');
  };
  return {
    setLevel: ['logging/setLevel', setLevel],
    levelOf,
    listenerFor: ({ era, watch, notify }, latest) => {
      if (era === 'modern' && levelIn(latest()) === undefined) return undefined;
      const stated = (): LogLevel | undefined =>
        era === 'modern' ? levelIn(latest()) : watch === undefined ? undefined : levelOf(watch);
      return {
        get level() {
          return stated();
        },
        take(message) {
          // A request of 2026-07-28 that states no level gets none.
          const least = stated() ?? (era === 'modern' ? undefined : LEAST_BY_DEFAULT);
          if (least !== undefined && isWanted(message.level, least))
            notify(notificationText('notifications/message', { ...message }));
        },
      };
    },
  };
}

/** The fault in the log level of a request; undefined for a valid one, and for none. */
export function logLevelFault(params: Params): string | undefined {
  const level = metaOf(params)[META_LOG_LEVEL];
  return level === undefined || isLogLevel(level) ? undefined : `_meta.${META_LOG_LEVEL} must be ${LEVELS}.`;
}

const LEVELS = `one of ${LOG_LEVELS.join(', ')}`;

function levelIn(params: Params): LogLevel | undefined {
  const level = metaOf(params)[META_LOG_LEVEL];
  return isLogLevel(level) ? level : undefined;
}
