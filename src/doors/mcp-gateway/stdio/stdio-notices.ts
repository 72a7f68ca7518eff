import type { Gateway } from '../create-gateway.ts';
import { errorAnswer, notificationText, RPC, type RpcId, type RpcRequest } from '../json-rpc.ts';
import { type Subscription, subscriptionOf } from '../subscriptions.ts';

/** Who on a stdio connection is told of changes: its session of the 2025 era, and each subscription of the 2026 era. */
export interface StdioNotices {
  /** The handshake is done: a session is told of every change. */
  openLegacy(): void;
  subscribe(request: RpcRequest): void;
  unsubscribe(id: RpcId): void;
  /** Ends the subscriptions with a last message each. */
  close(): void;
}

export function createStdioNotices(gateway: Gateway, write: (text: string) => void): StdioNotices {
  const subscriptions = new Map<RpcId, Subscription>();
  let legacy = false;
  const listening = gateway.onToolsChanged(() => {
    if (legacy) write(notificationText('notifications/tools/list_changed'));
    for (const { toolsChanged } of subscriptions.values()) if (toolsChanged !== undefined) write(toolsChanged);
  });
  return {
    openLegacy: () => {
      legacy = true;
    },
    subscribe: (request) => {
      if (subscriptions.size >= gateway.settings.streamsMax) {
        write(errorAnswer(request.id, RPC.internalError, 'Too many subscriptions are open.').text);
        return;
      }
      const subscription = subscriptionOf(request);
      subscriptions.set(request.id, subscription);
      write(subscription.acknowledgement);
    },
    unsubscribe: (id) => void subscriptions.delete(id),
    close: () => {
      listening[Symbol.dispose]();
      for (const { ending } of subscriptions.values()) write(ending);
      subscriptions.clear();
    },
  };
}
