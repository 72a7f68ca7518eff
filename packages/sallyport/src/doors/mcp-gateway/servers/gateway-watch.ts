import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Caller } from '../../../domain/principal/principal.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { Params } from '../../json-rpc.ts';
import type { McpServer, Notify } from '../../mcp-server.ts';
import type { ToolChanges } from '../../tool-changes.ts';
import { oneListener } from '../one-listener.ts';
import type { WatchedByClient } from './watched-by-client.ts';

/** A list that changes, and the names that MCP has for that. */
export interface WatchedList {
  /** Member of a SubscriptionFilter. */
  readonly wish: string;
  readonly notification: string;
  /** Equal for equal lists, as the caller sees them. */
  look(caller: Caller): Promise<string>;
}

/** Dependencies of the subscriptions of clients. */
export interface GatewayWatchParts {
  readonly lists: readonly WatchedList[];
  readonly toolChanges: ToolChanges;
  readonly log: Log;
  /** Makes the watched resources of one client. */
  resources(notify: Notify): WatchedByClient;
}

/** Notifies a client when what it sees changed. Changes of what it does not see are not observable. */
export function gatewayWatch({ lists, toolChanges, log, resources }: GatewayWatchParts): McpServer['watch'] {
  return async (wish, caller, notify) => {
    const watched = lists.filter((list) => wish[list.wish] === true);
    const ofClient = resources(notify);
    const uris = await grantedResources(wish, caller, ofClient, log);
    const rings = oneListener(async (listener) => {
      if (watched.length === 0) return undefined;
      const seen = await Promise.all(watched.map((list) => list.look(listener)));
      const lookAgain = async (): Promise<void> => {
        for (const [at, list] of watched.entries()) {
          const now = await list.look(listener);
          if (now === seen[at]) continue;
          seen[at] = now;
          notify(list.notification);
        }
      };
      // An expired token sees nothing: there is nothing to report.
      return toolChanges.onChanged(
        () => void lookAgain().catch((cause: unknown) => log.debug('mcp-look-failed', { cause })),
      );
    });
    return {
      granted: {
        ...Object.fromEntries(watched.map((list) => [list.wish, true])),
        ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
      },
      listen(listener) {
        ofClient.listen(listener);
        return rings.listen(listener);
      },
      subscribe: (uri, subscriber) => ofClient.add(uri, subscriber),
      unsubscribe: (uri) => ofClient.remove(uri),
      [Symbol.dispose]() {
        rings[Symbol.dispose]();
        ofClient[Symbol.dispose]();
      },
    };
  };
}

/** Most resources that one wish may name. */
const WISHED_MAX = 100;

/** The resources of the wish that the caller may watch, each once. What it may not is not granted. */
async function grantedResources(
  { resourceSubscriptions: wanted }: Params,
  caller: Caller,
  ofClient: WatchedByClient,
  log: Log,
): Promise<readonly string[]> {
  const granted: string[] = [];
  const uris = Array.isArray(wanted) ? wanted.filter((uri): uri is string => typeof uri === 'string') : [];
  for (const uri of new Set(uris.slice(0, WISHED_MAX))) {
    try {
      if (await ofClient.add(uri, caller)) granted.push(uri);
    } catch (thrown) {
      log.debug('mcp-resource-not-watched', { code: failureOf(thrown).code });
    }
  }
  return granted;
}
