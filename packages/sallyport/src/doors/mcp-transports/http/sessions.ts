import { randomUUID } from 'node:crypto';
import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { ConnectionLost } from '../../../domain/principal/connection-lost.ts';
import { createOpenRegister, type Holder, type OpenEntry } from '../../../domain/principal/open-register.ts';
import type { Params, RpcId } from '../../json-rpc.ts';
import type { Watch } from '../../mcp-server.ts';
import { type ClientQuestions, createClientQuestions } from '../client-questions.ts';
import type { TransportSettings } from '../settings.ts';
import type { EventStream } from './event-stream.ts';

/**
 * Shared state of a 2025-era client and this server. A session grants nothing: every request brings its own token, of
 * the session's holder.
 */
export interface Session {
  readonly id: string;
  /** Path of the address at which it was opened; it is unknown at others. */
  readonly path: string;
  /** Holder that opened the session; nobody else can use it. */
  readonly holder: Holder;
  /** The last token known to be the holder's. */
  token: string | undefined;
  /** The client's capabilities from the handshake. */
  readonly can: Params;
  /** Open questions to the client. */
  readonly questions: ClientQuestions;
  /** Requests that run, so that they can be cancelled. */
  readonly running: Map<RpcId, AbortController>;
  /** Subscription whose notifications go to the GET stream. */
  readonly watch: Watch;
  /** The client's GET stream, while it is open; its newest one. */
  stream: EventStream | undefined;
  /** Monotonic ms. */
  usedAt: number;
  /** Counts the session among the open sessions of its holder and tenant. */
  readonly entry: OpenEntry;
}

/** Holder, address and client capabilities of a session. */
export type SessionOf = Pick<Session, 'path' | 'holder' | 'token' | 'can'>;

export interface Sessions {
  /**
   * At a limit, the holder's own longest-idle session ends; a session of others ends only when idle beyond
   * `sessionIdleMs`.
   * @param watch subscribes the session to changes, given a function that sends it a message; disposed with the session
   * @throws ToolLayerError E3803 when there is no room
   */
  create(of: SessionOf, watch: (send: (text: string) => void) => Promise<Watch>): Promise<Session>;
  /** Undefined for an unknown or ended session. A lookup does not count as use. */
  find(id: string): Session | undefined;
  /** Marks the session as used now. */
  touch(session: Session): void;
  /** Ends a session, its stream and its requests; false when it does not exist. */
  end(id: string): boolean;
  endAll(): void;
}

type Settings = Pick<
  TransportSettings,
  'sessionsMax' | 'sessionsPerHolderMax' | 'sessionsPerTenantMax' | 'sessionIdleMs'
>;

export function createSessions(settings: Settings): Sessions {
  const { sessionsMax: max, sessionsPerHolderMax: perHolderMax, sessionsPerTenantMax: perTenantMax } = settings;
  const register = createOpenRegister('sessions', { max, perHolderMax, perTenantMax });
  /** By id, longest unused first. */
  const sessions = new Map<string, Session>();

  const end = (id: string): boolean => {
    const session = sessions.get(id);
    if (session === undefined) return false;
    sessions.delete(id);
    close(session);
    return true;
  };

  const touch = (session: Session): void => {
    session.usedAt = performance.now();
    if (!sessions.delete(session.id)) return;
    sessions.set(session.id, session);
    session.entry.touch();
  };

  /** Ends sessions that were idle for too long; a session with an open stream is in use. */
  const endIdle = (): void => {
    const before = performance.now() - settings.sessionIdleMs;
    for (const session of sessions.values()) {
      if (session.usedAt >= before) return;
      if (session.stream !== undefined) touch(session);
      else end(session.id);
    }
  };

  const enter = (holder: Holder, id: string): OpenEntry => {
    const add = () => register.add(holder, () => end(id));
    let entry = add();
    if (isFailure(entry)) {
      endIdle();
      entry = add();
    }
    if (isFailure(entry)) throw ToolLayerError.of(entry);
    return entry;
  };

  return {
    create: async (of, watch) => {
      let session: Session | undefined;
      const watching = await watch((text) => void session?.stream?.send(text));
      const id = randomUUID();
      try {
        session = sessionOf(id, of, watching, enter(of.holder, id));
      } catch (thrown) {
        watching[Symbol.dispose]();
        throw thrown;
      }
      sessions.set(id, session);
      return session;
    },
    find: (id) => sessions.get(id),
    touch,
    end,
    endAll: () => {
      for (const id of [...sessions.keys()]) end(id);
    },
  };
}

function sessionOf(id: string, of: SessionOf, watch: Watch, entry: OpenEntry): Session {
  return {
    id,
    ...of,
    questions: createClientQuestions(),
    running: new Map(),
    watch,
    stream: undefined,
    usedAt: performance.now(),
    entry,
  };
}

function close({ entry, stream, watch, questions, running }: Session): void {
  entry[Symbol.dispose]();
  stream?.end();
  watch[Symbol.dispose]();
  questions.close();
  for (const each of running.values()) each.abort(new ConnectionLost());
}
