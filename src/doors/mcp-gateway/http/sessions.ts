import { randomUUID } from 'node:crypto';
import type { RpcId } from '../json-rpc.ts';
import type { McpSettings } from '../settings.ts';
import type { EventStream } from './event-stream.ts';

/** What a client of the 2025 era and this server hold in common. It grants nothing: every request shows its own token. */
export interface Session {
  readonly id: string;
  readonly version: string;
  /** Requests that run, so that they can be cancelled. */
  readonly running: Map<RpcId, AbortController>;
  /** The client's GET stream, while it is open. */
  stream: EventStream | undefined;
  /** Monotonic ms. */
  usedAt: number;
}

export interface Sessions {
  create(version: string): Session;
  /** undefined for one that never was or has ended. */
  find(id: string): Session | undefined;
  /** Ends a session, its stream and its requests; false when there is none. */
  end(id: string): boolean;
  endAll(): void;
  readonly size: number;
}

export function createSessions(settings: Pick<McpSettings, 'sessionsMax' | 'sessionIdleMs'>): Sessions {
  const sessions = new Map<string, Session>();

  const end = (id: string): boolean => {
    const session = sessions.get(id);
    if (session === undefined) return false;
    sessions.delete(id);
    session.stream?.end();
    for (const running of session.running.values()) running.abort();
    return true;
  };

  const makeRoom = (now: number): void => {
    if (sessions.size < settings.sessionsMax) return;
    const idle = [...sessions.values()].filter((session) => now - session.usedAt > settings.sessionIdleMs);
    for (const session of idle) end(session.id);
    if (sessions.size < settings.sessionsMax) return;
    const oldest = [...sessions.values()].reduce((a, b) => (a.usedAt <= b.usedAt ? a : b));
    end(oldest.id);
  };

  return {
    create: (version) => {
      const usedAt = performance.now();
      makeRoom(usedAt);
      const session: Session = { id: randomUUID(), version, running: new Map(), stream: undefined, usedAt };
      sessions.set(session.id, session);
      return session;
    },
    find: (id) => {
      const session = sessions.get(id);
      if (session !== undefined) session.usedAt = performance.now();
      return session;
    },
    end,
    endAll: () => {
      for (const id of [...sessions.keys()]) end(id);
    },
    get size() {
      return sessions.size;
    },
  };
}
