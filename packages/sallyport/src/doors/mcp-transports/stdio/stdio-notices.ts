import type { Caller } from '../../../domain/principal/principal.ts';
import { errorAnswer, ID_IN_USE, notificationText, RPC, type RpcId, type RpcRequest } from '../../json-rpc.ts';
import { SESSION_WISH } from '../../mcp-protocol.ts';
import type { McpServer, Watch } from '../../mcp-server.ts';
import { openSubscription, subscriptionEnding } from '../subscriptions.ts';

/** Notifications of one stdio connection: for its 2025-era session, and for each 2026-era subscription. */
export interface StdioNotices {
  /** Subscription of the session; undefined before a handshake. */
  readonly session: Watch | undefined;
  /** Called after the handshake was answered: the session is notified of every change from now on. */
  openSession(): Promise<void>;
  subscribe(request: RpcRequest): Promise<void>;
  unsubscribe(id: RpcId): void;
  /** Ends each subscription with a last message. */
  close(): void;
}

/** Dependencies of the notifications of one connection. */
export interface StdioNoticesParts {
  readonly server: McpServer;
  readonly caller: Caller;
  /** Most 2026-era subscriptions. */
  readonly subscriptionsMax: number;
  readonly write: (text: string) => void;
}

/** A subscription; without a watch while it is being opened. */
interface Slot {
  readonly ending: string;
  watch?: Watch;
}

export function createStdioNotices({ server, caller, subscriptionsMax, write }: StdioNoticesParts): StdioNotices {
  const slots = new Map<RpcId, Slot>();
  let session: Watch | undefined;
  let closed = false;
  const open = async (request: RpcRequest, slot: Slot): Promise<void> => {
    const isOpen = (): boolean => slots.get(request.id) === slot;
    const send = (text: string): void => {
      if (isOpen()) write(text);
    };
    const { watch, begin } = await openSubscription(server, request, caller, send);
    slot.watch = watch;
    if (isOpen()) await begin(caller);
    // The client or the connection ended it meanwhile.
    if (!isOpen()) watch[Symbol.dispose]();
  };
  return {
    get session() {
      return session;
    },
    openSession: async () => {
      session?.[Symbol.dispose]();
      session = await server.watch(SESSION_WISH, caller, (method, params) => write(notificationText(method, params)));
      if (closed) session[Symbol.dispose]();
      else await session.listen(caller);
    },
    subscribe: async (request) => {
      const refused = await server.refuseCaller(request.id, caller);
      if (refused !== undefined) write(refused.text);
      else if (slots.has(request.id)) write(errorAnswer(request.id, RPC.invalidRequest, ID_IN_USE).text);
      else if (closed || slots.size >= subscriptionsMax) {
        write(errorAnswer(request.id, RPC.internalError, 'Too many subscriptions are open.').text);
      } else {
        const slot = { ending: subscriptionEnding(request) };
        slots.set(request.id, slot);
        await open(request, slot);
      }
    },
    unsubscribe: (id) => {
      slots.get(id)?.watch?.[Symbol.dispose]();
      slots.delete(id);
    },
    close: () => {
      closed = true;
      session?.[Symbol.dispose]();
      for (const { ending, watch } of slots.values()) {
        write(ending);
        watch?.[Symbol.dispose]();
      }
      slots.clear();
    },
  };
}
