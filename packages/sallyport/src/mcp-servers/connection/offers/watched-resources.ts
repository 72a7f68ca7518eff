import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Log } from '../../../telemetry/log.ts';
import type { Link } from '../link.ts';

/** Most resources of one upstream that are watched at once. */
const WATCHED_MAX = 1_000;

/** Resources of one upstream whose changes somebody waits for: one subscription for all who wait for the same. */
export interface WatchedResources {
  /**
   * Subscribes, or joins the subscription that there is; while the upstream is away, it is subscribed once it is back.
   * @returns ends the wait; the subscription ends with the last one
   * @throws what the server's refusal becomes; E3803 when too many are watched
   */
  add(uri: string, onUpdated: () => void): Promise<Disposable>;
  /** Subscribes everything anew over a fresh connection; undefined: there is none now. */
  bind(link: Pick<Link, 'watch'> | undefined): void;
  /** The server said that a resource changed. */
  updated(uri: string): void;
  isEmpty(): boolean;
}

interface Watched {
  readonly listeners: Set<() => void>;
  /** The subscription at the server over the present connection. */
  opened: Promise<AsyncDisposable | undefined>;
}

/** Makes an empty set. */
export function createWatchedResources(upstream: string, log: Log): WatchedResources {
  const watched = new Map<string, Watched>();
  let link: Pick<Link, 'watch'> | undefined;
  const open = async (uri: string): Promise<AsyncDisposable | undefined> => link?.watch(uri);
  const end = (entry: Watched): void => {
    entry.opened.then((each) => each?.[Symbol.asyncDispose]()).catch(() => {});
  };
  const leave = (uri: string, entry: Watched, listener: () => void): void => {
    entry.listeners.delete(listener);
    if (entry.listeners.size > 0 || watched.get(uri) !== entry) return;
    watched.delete(uri);
    end(entry);
  };
  return {
    async add(uri, onUpdated) {
      const listener = (): void => onUpdated();
      const known = watched.get(uri);
      if (known === undefined && watched.size >= WATCHED_MAX) throw tooMany(upstream);
      const entry = known ?? { listeners: new Set(), opened: open(uri) };
      watched.set(uri, entry);
      entry.listeners.add(listener);
      try {
        await entry.opened;
      } catch (thrown) {
        leave(uri, entry, listener);
        throw thrown;
      }
      return { [Symbol.dispose]: () => leave(uri, entry, listener) };
    },
    bind(fresh) {
      link = fresh;
      for (const [uri, entry] of fresh === undefined ? [] : watched) {
        entry.opened = open(uri);
        entry.opened.catch((thrown: unknown) =>
          log.warn('upstream-resource-not-watched', { upstream, error: String(thrown) }),
        );
      }
    },
    isEmpty: () => watched.size === 0,
    updated(uri) {
      for (const listener of watched.get(uri)?.listeners ?? []) listener();
    },
  };
}

function tooMany(upstream: string): ToolLayerError {
  const message = `${WATCHED_MAX} resources of the upstream '${upstream}' are watched, as many as may be. Unsubscribe from others first.`;
  return new ToolLayerError('E3803', message);
}
