import { type Clock, systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { ownerKey } from '../../../src/domain/invocation/call-owner.ts';
import type { QuotaStore } from '../../../src/permission/quota-store.port.ts';

/** Default of `sessionsMax`. */
const SESSIONS_MAX = 1_000_000;
/**
 * How many of the oldest sessions are examined for each new one; more than one, so that ended sessions do not
 * accumulate.
 */
const SWEPT_PER_SESSION = 2;

interface Counted {
  readonly calls: number;
  /** End of the session in epoch ms. */
  readonly expiresAt: number;
}

/**
 * Quotas in memory.
 * @param options.sessionsMax number of sessions, 1 000 000 by default; a full store refuses new ones with E3812,
 *   because a session whose count was dropped would begin anew
 */
export function memoryQuotaStore(options: { readonly clock?: Clock; readonly sessionsMax?: number } = {}): QuotaStore {
  const { clock = systemClock, sessionsMax = SESSIONS_MAX } = options;
  const sessions = new Map<string, Counted>();
  return {
    async take({ owner, sessionId }, callsMax, idleSeconds) {
      const key = JSON.stringify([ownerKey(owner), sessionId]);
      const now = clock.now();
      const held = sessions.get(key);
      const calls = held !== undefined && held.expiresAt > now ? held.calls : 0;
      if (calls >= callsMax) return undefined;
      sessions.delete(key);
      if (held === undefined) {
        sweep(sessions, now);
        if (sessions.size >= sessionsMax) {
          throw new ToolLayerError(
            'E3812',
            `All ${sessionsMax} sessions that memory may count are in use. Use PostgreSQL.`,
          );
        }
      }
      sessions.set(key, { calls: calls + 1, expiresAt: now + idleSeconds * 1000 });
      return calls + 1;
    },
  };
}

/**
 * Examines the oldest sessions: removes ended ones and moves the others to the end, so that every session gets its
 * turn.
 */
function sweep(sessions: Map<string, Counted>, now: number): void {
  let left = SWEPT_PER_SESSION;
  for (const [key, session] of sessions) {
    if (left-- === 0) return;
    sessions.delete(key);
    if (session.expiresAt > now) sessions.set(key, session);
  }
}
