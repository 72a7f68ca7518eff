import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Log } from '../../../telemetry/log.ts';
import type { ResourceListener } from '../../known-upstream.ts';
import { notConnected } from '../call-failures.ts';
import { createWatchedResources, type WatchedResources } from '../offers/watched-resources.ts';
import type { KnownCaller } from './caller-credentials.ts';
import type { CallerLinks } from './caller-links.ts';

/**
 * The resources of one upstream that its callers watch, each over the caller's own connection (PRM-11). The connection
 * stays open for that long. Nothing is subscribed anew: whose credential and when is for the listener to say.
 */
export interface CallerWatches {
  /** @throws what opening the connection throws; E3803 when too many callers watch; see `WatchedResources.add` */
  add(caller: KnownCaller, uri: string, listener: ResourceListener): Promise<Disposable>;
  /** The server said to this caller that a resource changed. */
  updated(caller: KnownCaller, uri: string): void;
}

/** Dependencies of the watches of callers. */
export interface CallerWatchesParts {
  readonly upstream: string;
  readonly log: Log;
  /** Most callers that watch at once: their connections are not closed to make room for calls of others. */
  readonly callersMax: number;
  readonly links: Pick<CallerLinks, 'use'>;
}

/** One caller that watches. */
interface Watcher {
  readonly watched: WatchedResources;
  /** Resolves when the caller is connected. */
  readonly connected: Promise<void>;
  /** Of the subscriptions that are made. */
  readonly listeners: Set<ResourceListener>;
  /** Lets the connection go. */
  readonly leave: () => void;
  /** Subscriptions, those being made included. */
  users: number;
  isOver: boolean;
}

/** Makes an empty set. */
export function createCallerWatches({ upstream, log, callersMax, links }: CallerWatchesParts): CallerWatches {
  const watchers = new Map<string, Watcher>();

  const begin = (caller: KnownCaller): Watcher => {
    if (watchers.size >= callersMax) throw tooMany(upstream, callersMax);
    const watched = createWatchedResources(upstream, log);
    const { promise: connected, resolve, reject } = Promise.withResolvers<void>();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const watcher: Watcher = { watched, connected, leave, listeners: new Set(), users: 0, isOver: false };
    watchers.set(caller.key, watcher);
    const lent = links.use(caller, { yields: true }, async ({ link, retired }) => {
      watched.bind(link);
      resolve();
      await Promise.race([link.ended, retired, left]);
    });
    void lent.catch(reject).finally(() => {
      watcher.isOver = true;
      if (watchers.get(caller.key) === watcher) watchers.delete(caller.key);
      for (const listener of watcher.listeners) listener.onEnded();
    });
    return watcher;
  };
  const release = (key: string, watcher: Watcher): void => {
    watcher.users -= 1;
    if (watcher.users > 0) return;
    if (watchers.get(key) === watcher) watchers.delete(key);
    watcher.leave();
  };
  return {
    async add(caller, uri, { onUpdated, onEnded }) {
      const watcher = watchers.get(caller.key) ?? begin(caller);
      watcher.users += 1;
      try {
        await watcher.connected;
        const watching = await watcher.watched.add(uri, onUpdated);
        if (watcher.isOver) throw notConnected(upstream);
        const listener = { onUpdated, onEnded };
        watcher.listeners.add(listener);
        return {
          [Symbol.dispose]() {
            if (!watcher.listeners.delete(listener)) return;
            watching[Symbol.dispose]();
            release(caller.key, watcher);
          },
        };
      } catch (thrown) {
        release(caller.key, watcher);
        throw thrown;
      }
    },
    updated: ({ key }, uri) => watchers.get(key)?.watched.updated(uri),
  };
}

function tooMany(upstream: string, max: number): ToolLayerError {
  const message = `${max} callers watch resources of the upstream '${upstream}', each over its own connection, as many as may. Try again when one of them has ended its subscriptions.`;
  return new ToolLayerError('E3803', message);
}
