import { isFailure } from '@sallyport/std/error/failure';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { createOpenRegister, type Holder } from '../../domain/principal/open-register.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Params } from '../json-rpc.ts';
import type { Notify, Watch } from '../mcp-server.ts';
import { type Fingerprint, LIST } from './fingerprint.ts';
import { type Client, createLooking, forget } from './looking.ts';
import type { DiscoverySettings } from './settings.ts';

/** Notifies clients of the changes they watch. */
export interface Watches {
  /** @param wish SubscriptionFilter of 2026-07-28; resources that the caller cannot see are not granted */
  open(wish: Params, caller: Caller, notify: Notify): Promise<Watch>;
  /** Something changed: checks everything that is watched, and notifies each client of what changed for it. */
  look(): void;
  close(): void;
}

/** Dependencies of the watches. */
export interface WatchesParts {
  readonly fingerprint: Fingerprint;
  /** @throws ToolLayerError E32xx for an invalid token */
  readonly holderOf: (caller: Caller) => Promise<Holder>;
  readonly settings: DiscoverySettings;
  readonly log: Log;
}

/** Error code when a client may watch no further resource. */
const NO_ROOM = 'E3803';

/**
 * A change event does not say whose tools changed. So each client is notified only when its own view, read with its own
 * token, differs: changes in one tenant are not observable in another.
 */
export function createWatches({ fingerprint, holderOf, settings, log }: WatchesParts): Watches {
  const clients = new Set<Client>();
  const { watchedMax: max, watchedPerHolderMax: perHolderMax, watchedPerTenantMax: perTenantMax } = settings;
  const register = createOpenRegister('watched resources', { max, perHolderMax, perTenantMax });
  const { look, close } = createLooking({ clients, fingerprint, settings, log });

  const placeFor = ({ places }: Client, holder: Holder): Disposable => {
    if (places.size >= settings.watchedPerClientMax) {
      const message = `A client is notified of ${settings.watchedPerClientMax} resources at most. Unsubscribe from others first.`;
      throw new ToolLayerError(NO_ROOM, message);
    }
    const place = register.add(holder);
    if (isFailure(place)) throw ToolLayerError.of(place);
    return place;
  };

  const end = (client: Client): void => {
    clients.delete(client);
    for (const uri of [...client.places.keys()]) forget(client, uri);
  };

  const add = async (client: Client, uri: string, caller: Caller): Promise<boolean> => {
    const print = uri === LIST ? undefined : await fingerprint(uri, caller);
    if (print === undefined) return false;
    const holder = await holderOf(caller);
    // The client may have left meanwhile; then nobody would release the place.
    if (!clients.has(client)) return false;
    if (!client.places.has(uri)) client.places.set(uri, placeFor(client, holder));
    client.seen.set(uri, { token: caller.token, print });
    return true;
  };

  const listen = async (client: Client, wantsList: boolean, listener: Caller | undefined): Promise<void> => {
    client.listener = listener;
    if (listener === undefined) return;
    const isFirst = wantsList && !client.seen.has(LIST);
    if (isFirst) client.seen.set(LIST, { token: listener.token, print: await fingerprint(LIST, listener) });
    // Changes that happened while nobody listened are reported now.
    if (client.seen.size > (isFirst ? 1 : 0)) look();
  };

  const open: Watches['open'] = async (wish, caller, notify) => {
    const client: Client = { notify, listener: undefined, seen: new Map(), places: new Map() };
    clients.add(client);
    const watched = await grantedOf(wish, settings.watchedPerClientMax, (uri) => add(client, uri, caller)).catch(
      (thrown: unknown) => {
        end(client);
        throw thrown;
      },
    );
    const wantsList = wish['resourcesListChanged'] === true;
    return {
      granted: {
        ...(wantsList ? { resourcesListChanged: true } : {}),
        ...(watched.length === 0 ? {} : { resourceSubscriptions: watched }),
      },
      listen: (listener) => listen(client, wantsList, listener),
      subscribe: (uri, subscriber) => add(client, uri, subscriber),
      unsubscribe: (uri) => forget(client, uri),
      [Symbol.dispose]: () => end(client),
    };
  };
  return { open, look, close };
}

/** The existing resources of the wish, each once, as far as there is room. */
async function grantedOf(wish: Params, max: number, add: (uri: string) => Promise<boolean>): Promise<string[]> {
  const { resourceSubscriptions: wanted } = wish;
  const granted: string[] = [];
  if (!Array.isArray(wanted)) return granted;
  const uris = wanted.filter((uri): uri is string => typeof uri === 'string');
  try {
    for (const uri of new Set(uris.slice(0, max))) if (await add(uri)) granted.push(uri);
  } catch (thrown) {
    if (failureOf(thrown).code !== NO_ROOM) throw thrown;
  }
  return granted;
}
