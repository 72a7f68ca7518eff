import type { Caller } from '../../domain/principal/principal.ts';
import { isObject } from '../../domain/shape/is-object.ts';
import { notificationText, type Params, type RpcRequest, resultAnswer } from '../json-rpc.ts';
import { META_SUBSCRIPTION } from '../mcp-protocol.ts';
import type { McpServer, Notify, Watch } from '../mcp-server.ts';
import { clientCapabilities } from './modern-envelope.ts';

/** An open `subscriptions/listen` of 2026-07-28, on any transport. */
export interface Subscription {
  readonly watch: Watch;
  /** Acknowledges the granted part of the wish, then sends changes. Resolves when no later change can be missed. */
  begin(caller: Caller): Promise<void>;
}

const NOTHING: Params = {};

/** @param send puts a message on the transport; messages that the transport cannot take are dropped */
export async function openSubscription(
  server: McpServer,
  request: RpcRequest,
  caller: Caller,
  send: (text: string) => void,
): Promise<Subscription> {
  const _meta = { [META_SUBSCRIPTION]: request.id };
  let acknowledged = false;
  const acknowledge = (): void => {
    if (acknowledged) return;
    acknowledged = true;
    const granted = { _meta, notifications: watch.granted };
    send(notificationText('notifications/subscriptions/acknowledged', granted));
  };
  const wish = request.params['notifications'];
  const notify: Notify = (method, params) => {
    // The acknowledgement is sent first, even when something changes while the subscription opens.
    acknowledge();
    send(notificationText(method, { ...params, _meta }));
  };
  const watch = await server.watch(isObject(wish) ? wish : NOTHING, caller, notify, clientCapabilities(request));
  return {
    watch,
    begin: async (listener) => {
      await watch.listen(listener);
      acknowledge();
    },
  };
}

/** Last message of a subscription that the server ends. */
export function subscriptionEnding(request: RpcRequest): string {
  const _meta = { [META_SUBSCRIPTION]: request.id };
  return resultAnswer(request.id, JSON.stringify({ resultType: 'complete', _meta })).text;
}
