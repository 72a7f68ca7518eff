import { isObject, notificationText, type RpcRequest, resultAnswer } from './json-rpc.ts';
import { META_SUBSCRIPTION } from './protocol.ts';

/** A `subscriptions/listen` of 2026-07-28: which messages it sends, on whatever transport. */
export interface Subscription {
  /** First message: what of the wish is granted. */
  readonly acknowledgement: string;
  /** Sent at each change of the tools; undefined when the client did not ask for it. */
  readonly toolsChanged: string | undefined;
  /** Last message, when the server ends it. */
  readonly ending: string;
}

export function subscriptionOf(request: RpcRequest): Subscription {
  const wish = request.params['notifications'];
  const wanted = isObject(wish) && wish['toolsListChanged'] === true;
  const _meta = { [META_SUBSCRIPTION]: request.id };
  return {
    acknowledgement: notificationText('notifications/subscriptions/acknowledged', {
      _meta,
      notifications: wanted ? { toolsListChanged: true } : {},
    }),
    toolsChanged: wanted ? notificationText('notifications/tools/list_changed', { _meta }) : undefined,
    ending: resultAnswer(request.id, JSON.stringify({ resultType: 'complete', _meta })).text,
  };
}
