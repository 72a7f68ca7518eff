import { LRUCache } from 'lru-cache';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { Params } from '../../json-rpc.ts';
import type { McpServer, Notify, Watch } from '../../mcp-server.ts';

/** Most addresses whose end a client may be notified of; the oldest is forgotten. */
const LINKS_MAX = 10_000;
/** Most sessions of one address: a user may be shown the link of one login at several clients. */
const SESSIONS_MAX = 16;

/**
 * Addresses that sessions were asked to open. Once the user is done there, the session is notified (MCP 2025-11-25,
 * elicitation in the mode url); 2026-07-28 has no such notification.
 */
export interface OpenedLinks {
  /** Makes the sessions known that subscribe to changes. */
  watching(watch: McpServer['watch']): McpServer['watch'];
  /** A client was asked to open an address. @param watch undefined: it is no session */
  asked(watch: Watch | undefined, question: Params): void;
  /** A client got an error that names addresses to open first. */
  refused(watch: Watch | undefined, data: unknown): void;
  /** The user is done at the address; an id that nobody was asked with changes nothing. */
  completed(elicitationId: string): void;
}

/** Makes the links of one gateway, none open. */
export function createOpenedLinks(): OpenedLinks {
  const sessions = new WeakMap<Watch, Notify>();
  const open = new LRUCache<string, Set<Notify>>({ max: LINKS_MAX });
  const asked: OpenedLinks['asked'] = (watch, { mode, elicitationId }) => {
    const notify = watch === undefined ? undefined : sessions.get(watch);
    if (notify === undefined || mode !== 'url' || typeof elicitationId !== 'string') return;
    const known = open.get(elicitationId) ?? new Set();
    if (known.size < SESSIONS_MAX) open.set(elicitationId, known.add(notify));
  };
  return {
    watching: (watch) => async (wish, caller, notify, can) => {
      const own = await watch(wish, caller, notify, can);
      sessions.set(own, notify);
      return own;
    },
    asked,
    refused(watch, data) {
      const elicitations: unknown = isObject(data) ? data['elicitations'] : undefined;
      if (watch === undefined || !Array.isArray(elicitations)) return;
      for (const each of elicitations) if (isObject(each)) asked(watch, each);
    },
    completed(elicitationId) {
      const known = open.get(elicitationId);
      open.delete(elicitationId);
      for (const notify of known ?? []) notify('notifications/elicitation/complete', { elicitationId });
    },
  };
}
