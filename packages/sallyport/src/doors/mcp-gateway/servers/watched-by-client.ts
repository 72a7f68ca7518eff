import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { isFailure } from '@sallyport/std/error/failure';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Holder, OpenRegister } from '../../../domain/principal/open-register.ts';
import { holderIn } from '../../../domain/principal/open-register.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { Log } from '../../../telemetry/log.ts';
import { errorEntry, type Notify } from '../../mcp-server.ts';
import type { ResourceUpdates } from '../resource-updates.port.ts';
import type { CachedOffers } from './cached-offers.ts';
import { located } from './offer-methods.ts';
import type { ServerUri } from './qualified-uri.ts';

/** Most resources that one client watches. */
const PER_CLIENT_MAX = 100;
/** Changes of a resource within this time cause one notification, ms. */
const TOGETHER_MS = 250;
/** Pause before a subscription that ended with its connection is tried again, ms. */
const RENEWED_AFTER_MS = 5_000;

/** The resources that one client watches. */
export interface WatchedByClient extends Disposable {
  /** False when there is no such resource for the caller. @throws ToolLayerError; see `ResourceUpdates.watch` */
  add(uri: string, caller: Caller): Promise<boolean>;
  remove(uri: string): void;
  /** Whose token has to allow reading what changed; undefined: nobody listens. */
  listen(caller: Caller | undefined): void;
}

/** Dependencies of what a client watches. */
export interface WatchedByClientParts {
  readonly layer: ToolLayer;
  readonly log: Log;
  readonly offers: Pick<CachedOffers, 'of'>;
  readonly updates: ResourceUpdates;
  /** Counts the watched resources of all clients. */
  readonly register: OpenRegister;
  /** The upstream whose resources alone are shown; undefined: those of all. */
  readonly upstream: string | undefined;
  readonly notify: Notify;
}

/** A watched resource. */
interface Entry {
  /** As the client names it. */
  readonly shown: string;
  readonly at: ServerUri;
  /** Who subscribed. */
  readonly caller: Caller;
  readonly place: Disposable;
  /** Resolves once it is watched for the first time. */
  begun: Promise<void>;
  watching?: Disposable;
  reporting?: NodeJS.Timeout;
  renewing?: NodeJS.Timeout;
}

/** What one client watches, and with whose token it listens. */
interface Watching {
  /** By the URI as the client names it. */
  readonly entries: Map<string, Entry>;
  listener: Caller | undefined;
  isOver: boolean;
}

export function watchedByClient(parts: WatchedByClientParts): WatchedByClient {
  const { layer, offers, register, upstream } = parts;
  const client: Watching = { entries: new Map(), listener: undefined, isOver: false };
  const { entries } = client;
  const remove = (uri: string): void => {
    const entry = entries.get(uri);
    entries.delete(uri);
    clearTimeout(entry?.reporting);
    clearTimeout(entry?.renewing);
    entry?.watching?.[Symbol.dispose]();
    entry?.place[Symbol.dispose]();
  };
  const watch = createWatch(parts, client, remove);
  const placeFor = (holder: Holder): Disposable => {
    if (entries.size >= PER_CLIENT_MAX) throw full();
    const place = register.add(holder);
    if (isFailure(place)) throw ToolLayerError.of(place);
    return place;
  };
  const begin = async (entry: Entry): Promise<void> => {
    entries.set(entry.shown, entry);
    entry.begun = watch(entry, entry.caller);
    try {
      await entry.begun;
    } catch (thrown) {
      if (entries.get(entry.shown) === entry) remove(entry.shown);
      throw thrown;
    }
  };
  return {
    async add(uri, caller) {
      const at = located(await offers.of(caller), uri, upstream);
      if (at === undefined || (await readToolOf(offers, at, caller)) === undefined) return false;
      const holder = holderIn(await layer.ask('tokens.inspect', {}, caller));
      // The client may have left meanwhile, and nobody would end the subscription; or it asked twice at once.
      if (client.isOver) return false;
      const known = entries.get(uri);
      if (known === undefined)
        await begin({ shown: uri, at, caller, place: placeFor(holder), begun: Promise.resolve() });
      else await known.begun;
      return true;
    },
    remove,
    listen(caller) {
      client.listener = caller;
    },
    [Symbol.dispose]() {
      client.isOver = true;
      client.listener = undefined;
      for (const uri of [...entries.keys()]) remove(uri);
    },
  };
}

/** Makes what subscribes, reports changes, and subscribes again when a subscription ended with its connection. */
function createWatch(parts: WatchedByClientParts, client: Watching, remove: (uri: string) => void) {
  const { log, notify, offers, updates } = parts;
  const isWatched = (entry: Entry): boolean => client.entries.get(entry.shown) === entry;

  const notifyOf = ({ shown }: Entry): void => notify('notifications/resources/updated', { uri: shown });
  /** Judges anew each time: the token may have ended, or what it covers or a policy allows may have changed. */
  const report = async (entry: Entry): Promise<void> => {
    const { listener } = client;
    if (listener === undefined) return;
    try {
      await judge(parts, entry.at, withoutRequest(listener));
      if (isWatched(entry)) notifyOf(entry);
    } catch (thrown) {
      const { code } = failureOf(thrown);
      log.debug('mcp-update-not-reported', { code });
      if (errorEntry(code).retryable) soon(entry, 'reporting', RENEWED_AFTER_MS);
    }
  };
  /** Says that a subscription is over, to a client that may still ask for resources of the server. */
  const reportEnd = async (entry: Entry): Promise<void> => {
    const { listener } = client;
    if (listener === undefined || (await readToolOf(offers, entry.at, listener)) === undefined) return;
    if (isWatched(entry)) notifyOf(entry);
  };
  const works = { reporting: report, renewing: (entry: Entry) => renew(entry) };
  const soon = (entry: Entry, what: keyof typeof works, ms: number): void => {
    if (entry[what] !== undefined || !isWatched(entry)) return;
    entry[what] = setTimeout(() => {
      delete entry[what];
      works[what](entry).catch((cause: unknown) => log.debug('mcp-update-not-reported', { cause }));
    }, ms).unref();
  };
  /** @throws ToolLayerError when the caller may not read it, or it cannot be watched */
  const watch = async (entry: Entry, caller: Caller): Promise<void> => {
    await judge(parts, entry.at, caller);
    const watching = await updates.watch(caller, entry.at, {
      onUpdated: () => soon(entry, 'reporting', TOGETHER_MS),
      onEnded: () => soon(entry, 'renewing', 0),
    });
    // The client may have gone meanwhile.
    if (isWatched(entry)) entry.watching = watching;
    else watching[Symbol.dispose]();
  };
  /**
   * Subscribes again, with the token of now. The client reads the resource again in either case: it may have changed
   * unnoticed, and where the subscription is over the client learns the reason by reading.
   */
  const renew = async (entry: Entry): Promise<void> => {
    try {
      await watch(entry, withoutRequest(client.listener ?? entry.caller));
      await report(entry);
    } catch (thrown) {
      const { code } = failureOf(thrown);
      log.debug('mcp-resource-not-watched', { code });
      if (errorEntry(code).retryable) return soon(entry, 'renewing', RENEWED_AFTER_MS);
      await reportEnd(entry).finally(() => (isWatched(entry) ? remove(entry.shown) : undefined));
    }
  };
  return watch;
}

/** The tool that reads the resource; undefined when the caller may not use it. */
async function readToolOf(
  offers: WatchedByClientParts['offers'],
  at: ServerUri,
  caller: Caller,
): Promise<string | undefined> {
  return (await offers.of(caller)).server(at.upstream)?.tools['resources/read'];
}

/** The same judgement as of reading it, by policies that look at the URI too. @throws ToolLayerError for a refusal */
async function judge({ layer, offers }: WatchedByClientParts, at: ServerUri, caller: Caller): Promise<void> {
  const toolId = await readToolOf(offers, at, caller);
  if (toolId === undefined) throw new ToolLayerError('E3809', 'There is no such resource.');
  const input = { tool_id: toolId, parameters: { uri: at.uri } };
  const { would, error } = await layer.ask('tools.dry-run', input, caller);
  if (would === 'refuse' && error !== undefined) throw new ToolLayerError(error.e_code as ErrorCode, error.message);
}

/** The request of the caller may be over, and must end nothing that is for the subscription. */
function withoutRequest({ signal: _signal, onProgress: _onProgress, ...caller }: Caller): Caller {
  return caller;
}

function full(): ToolLayerError {
  const message = `A client watches ${PER_CLIENT_MAX} resources at most. Unsubscribe from others first.`;
  return new ToolLayerError('E3803', message);
}
