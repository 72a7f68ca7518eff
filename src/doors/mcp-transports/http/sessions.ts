import { randomUUID } from 'node:crypto';
import { ConnectionLost } from '../../../domain/principal/connection-lost.ts';
import type { Params, RpcId } from '../../json-rpc.ts';
import type { Watch } from '../../mcp-server.ts';
import { type ClientQuestions, createClientQuestions } from '../client-questions.ts';
import type { TransportSettings } from '../settings.ts';
import type { EventStream } from './event-stream.ts';

/**
 * What a client of the 2025 era and this server hold in common. It grants nothing: every request shows its own token,
 * and one of the same holder.
 */
export interface Session {
  readonly id: string;
  readonly version: string;
  /** For whom the session was opened; nobody else has part in it. */
  readonly holder: string;
  /** The last token that was known to be the holder's. */
  token: string | undefined;
  /** What its client said in the handshake that it can do. */
  readonly can: Params;
  /** What its client is asked. */
  readonly questions: ClientQuestions;
  /** Requests that run, so that they can be cancelled. */
  readonly running: Map<RpcId, AbortController>;
  /** What its client is told of on the GET stream. */
  readonly watch: Watch;
  /** The client's GET stream, while it is open. */
  stream: EventStream | undefined;
  /** A GET stream is open, or about to be. */
  hasStream: boolean;
  /** Monotonic ms. */
  usedAt: number;
}

/** Whose session it is, in which version of the protocol, and what its client can do. */
export type SessionOf = Pick<Session, 'version' | 'holder' | 'token' | 'can'>;

export interface Sessions {
  /** @param watch makes what the session is told of, given how to tell it; disposed with the session */
  create(of: SessionOf, watch: (tell: (text: string) => void) => Promise<Watch>): Promise<Session>;
  /** undefined for one that never was or has ended. Asking does not count as use. */
  find(id: string): Session | undefined;
  /** Ends a session, its stream and its requests; false when there is none. */
  end(id: string): boolean;
  endAll(): void;
  readonly size: number;
}

export function createSessions(settings: Pick<TransportSettings, 'sessionsMax' | 'sessionIdleMs'>): Sessions {
  const sessions = new Map<string, Session>();

  const end = (id: string): boolean => {
    const session = sessions.get(id);
    if (session === undefined) return false;
    sessions.delete(id);
    session.stream?.end();
    session.watch[Symbol.dispose]();
    session.questions.close();
    for (const running of session.running.values()) running.abort(new ConnectionLost());
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
    create: async (of, watch) => {
      let session: Session | undefined;
      const watching = await watch((text) => void session?.stream?.send(text));
      const usedAt = performance.now();
      makeRoom(usedAt);
      session = {
        id: randomUUID(),
        ...of,
        questions: createClientQuestions(),
        running: new Map(),
        watch: watching,
        stream: undefined,
        hasStream: false,
        usedAt,
      };
      sessions.set(session.id, session);
      return session;
    },
    find: (id) => sessions.get(id),
    end,
    endAll: () => {
      for (const id of [...sessions.keys()]) end(id);
    },
    get size() {
      return sessions.size;
    },
  };
}
