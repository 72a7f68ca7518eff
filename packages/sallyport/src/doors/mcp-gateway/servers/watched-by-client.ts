import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { OpenRegister } from '../../../domain/principal/open-register.ts';
import { holderIn } from '../../../domain/principal/open-register.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { Notify } from '../../mcp-server.ts';
import type { ResourceUpdates } from '../resource-updates.port.ts';
import type { CachedOffers } from './cached-offers.ts';
import { located } from './offer-methods.ts';

/** Most resources that one client watches. */
const PER_CLIENT_MAX = 100;
/** Changes of a resource within this time cause one notification, ms. */
const TOGETHER_MS = 250;

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
  /** Absent: nothing can be watched. */
  readonly updates: ResourceUpdates | undefined;
  /** Counts the watched resources of all clients. */
  readonly register: OpenRegister;
  /** The upstream whose resources alone are shown; undefined: those of all. */
  readonly upstream: string | undefined;
  readonly notify: Notify;
}

interface Entry {
  readonly place: Disposable;
  watching?: Disposable;
  timer?: NodeJS.Timeout;
}

export function watchedByClient(parts: WatchedByClientParts): WatchedByClient {
  const { layer, log, notify, register, updates } = parts;
  const watched = new Map<string, Entry>();
  let listener: Caller | undefined;

  const remove = (uri: string): void => {
    const entry = watched.get(uri);
    watched.delete(uri);
    clearTimeout(entry?.timer);
    entry?.watching?.[Symbol.dispose]();
    entry?.place[Symbol.dispose]();
  };

  /** Asks anew each time: the token may have ended, or what it covers may have changed. */
  const report = async (uri: string): Promise<void> => {
    const caller = listener;
    if (caller === undefined || (await readTool(parts, uri, caller)) === undefined) return;
    if (watched.has(uri)) notify('notifications/resources/updated', { uri });
  };
  const updated = (uri: string, entry: Entry): void => {
    if (entry.timer !== undefined) return;
    entry.timer = setTimeout(() => {
      delete entry.timer;
      report(uri).catch((cause: unknown) => log.debug('mcp-update-not-reported', { cause }));
    }, TOGETHER_MS).unref();
  };

  return {
    async add(uri, caller) {
      if (watched.has(uri)) return true;
      const read = await readTool(parts, uri, caller);
      if (read === undefined || updates === undefined) return false;
      // The same judgement as of reading it, by policies that look at the URI too.
      const input = { tool_id: read.toolId, parameters: { uri: read.uri } };
      const { would, error } = await layer.ask('tools.dry-run', input, caller);
      if (would === 'refuse' && error !== undefined) throw new ToolLayerError(error.e_code as ErrorCode, error.message);
      if (watched.size >= PER_CLIENT_MAX) throw full();
      const holder = await layer.ask('tokens.inspect', {}, caller);
      const place = register.add(holderIn(holder));
      if (isFailure(place)) throw ToolLayerError.of(place);
      const entry: Entry = { place };
      watched.set(uri, entry);
      try {
        const watching = await updates.watch(holder.tenant_id, read.upstream, read.uri, () => updated(uri, entry));
        // The client may have gone meanwhile.
        if (watched.get(uri) === entry) entry.watching = watching;
        else watching[Symbol.dispose]();
      } catch (thrown) {
        if (watched.get(uri) === entry) remove(uri);
        throw thrown;
      }
      return true;
    },
    remove,
    listen(caller) {
      listener = caller;
    },
    [Symbol.dispose]() {
      listener = undefined;
      for (const uri of [...watched.keys()]) remove(uri);
    },
  };
}

/** The resource and the tool that reads it; undefined when the caller may not read it. */
async function readTool(
  { offers, upstream }: Pick<WatchedByClientParts, 'offers' | 'upstream'>,
  uri: string,
  caller: Caller,
): Promise<{ readonly upstream: string; readonly uri: string; readonly toolId: string } | undefined> {
  const seen = await offers.of(caller);
  const at = located(seen, uri, upstream);
  const toolId = at === undefined ? undefined : seen.server(at.upstream)?.tools['resources/read'];
  return at === undefined || toolId === undefined ? undefined : { ...at, toolId };
}

function full(): ToolLayerError {
  const message = `A client watches ${PER_CLIENT_MAX} resources at most. Unsubscribe from others first.`;
  return new ToolLayerError('E3803', message);
}
