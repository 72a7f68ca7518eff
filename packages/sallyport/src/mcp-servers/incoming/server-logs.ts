import {
  isLogLevel,
  isWanted,
  LEAST_BY_DEFAULT,
  type LogLevel,
  type LogListener,
  type LogMessage,
} from '../../domain/invocation/log-message.ts';
import { isObject } from '../../domain/shape/is-object.ts';
import { type HideSecrets, hideInValue } from '../../external/hide-secrets.ts';
import type { Asker, Askers } from './asker.ts';

const LOGGER_CHARS_MAX = 200;

/** The log message in the parameters of `notifications/message`; undefined for anything else. */
export function logMessageIn(params: unknown): LogMessage | undefined {
  if (!isObject(params) || !isLogLevel(params['level'])) return undefined;
  const { level, logger, data = null } = params;
  return { level, data, ...(typeof logger === 'string' ? { logger: logger.slice(0, LOGGER_CHARS_MAX) } : {}) };
}

/** For whom a log message is that belongs to no call. */
export interface LogAudience {
  /** Key of the only owner; absent: all who see the server. */
  readonly owner?: string;
}

/**
 * Gives a log message to the call that it belongs to. Without a stream of the call it belongs to the newest call, and
 * only while every call that it may come from is of one agent and user: it may quote what another was doing.
 * @returns for whom else it is; undefined for nobody, since it belongs to a call, or may quote calls of several owners
 */
export function giveLog(message: LogMessage, { running, gone, ended }: Askers): LogAudience | undefined {
  const newest = running.at(-1);
  if (newest === undefined) return gone.length > 0 ? undefined : audienceOf(ended);
  const isTheirs = ({ owner }: Asker): boolean => owner !== undefined && owner === newest.owner;
  if (running.length + gone.length > 1 && ![...running, ...gone].every(isTheirs)) return undefined;
  const { logs } = newest;
  if (logs === undefined || !isWanted(message.level, logs.level ?? LEAST_BY_DEFAULT)) return undefined;
  try {
    logs.take(message);
  } catch {
    // A listener that fails must not fail the connection.
  }
  return undefined;
}

/** What a server says soon after a call may be about it. */
function audienceOf(ended: Askers['ended']): LogAudience | undefined {
  const [owner] = ended;
  if (ended.length === 0) return {};
  return ended.length > 1 || owner === undefined ? undefined : { owner };
}

/** Gives a log message on without secrets; one that cannot be searched for them is dropped. */
export function giveHidden(
  message: LogMessage,
  hide: HideSecrets | undefined,
  give: ((message: LogMessage, owner?: string) => void) | undefined,
  owner?: string,
): void {
  if (give === undefined) return;
  try {
    give(hide === undefined ? message : hideInValue(message, hide), owner);
  } catch {
    // It is nested too deeply, or its receiver failed: neither is the connection's.
  }
}

/** The level that a connection has to be set to before a call; undefined when it need not be changed. */
export function levelToSet(logs: LogListener | undefined, current: LogLevel | undefined): LogLevel | undefined {
  const wanted = logs?.level;
  if (wanted === undefined || (current !== undefined && isWanted(wanted, current))) return undefined;
  return wanted;
}
