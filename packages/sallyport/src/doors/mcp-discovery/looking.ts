import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Caller } from '../../domain/principal/principal.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Notify } from '../mcp-server.ts';
import { type Fingerprint, LIST } from './fingerprint.ts';
import type { DiscoverySettings } from './settings.ts';

/** What a client last saw of a subject, and with which token: views of different tokens are not compared. */
export interface Seen {
  readonly token: string | undefined;
  readonly print: string | undefined;
}

/** A client that watches, and its subjects. */
export interface Client {
  readonly notify: Notify;
  /** Caller whose token listens; undefined while nobody listens. */
  listener: Caller | undefined;
  /** By subject: a URI, or the list of resources. */
  readonly seen: Map<string, Seen>;
  /** Place of each watched URI among all watched resources, by URI. */
  readonly places: Map<string, Disposable>;
}

/** Ends the notifications about one subject. */
export function forget({ seen, places }: Client, subject: string): void {
  seen.delete(subject);
  places.get(subject)?.[Symbol.dispose]();
  places.delete(subject);
}

/** Checks what clients watch, one check at a time. */
export interface Looking {
  /** Something may have changed: checks everything, now or after the check under way. */
  look(): void;
  close(): void;
}

/** Dependencies of the checks. */
export interface LookingParts {
  readonly clients: ReadonlySet<Client>;
  readonly fingerprint: Fingerprint;
  readonly settings: Pick<DiscoverySettings, 'lookPauseMs'>;
  readonly log: Log;
}

/**
 * A check is followed by a pause of at least this multiple of its duration, so that constant changes leave time for
 * calls.
 */
const PAUSE_FACTOR = 4;

export function createLooking({ clients, fingerprint, settings, log }: LookingParts): Looking {
  const { signal, abort } = abortable();
  let isLooking = false;
  let isDue = false;
  const lookOn = async (): Promise<void> => {
    try {
      while (isDue) {
        isDue = false;
        const began = performance.now();
        await lookAtAll(clients, onceEach(fingerprint), signal);
        const pause = Math.max(settings.lookPauseMs, PAUSE_FACTOR * (performance.now() - began));
        await wait(pause, undefined, { signal, ref: false });
      }
    } catch (thrown) {
      if (!signal.aborted) log.error('mcp-discovery-look-failed', { cause: thrown });
    }
    isLooking = false;
  };
  return {
    look: () => {
      isDue = clients.size > 0 && !signal.aborted;
      if (!isDue || isLooking) return;
      isLooking = true;
      void lookOn();
    },
    close: abort,
  };
}

function abortable(): { readonly signal: AbortSignal; abort(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

async function lookAtAll(clients: ReadonlySet<Client>, fingerprint: Fingerprint, signal: AbortSignal): Promise<void> {
  for (const client of [...clients]) {
    for (const subject of client.listener === undefined ? [] : [...client.seen.keys()]) {
      if (signal.aborted) return;
      await lookAt(client, subject, fingerprint);
      // Yields to calls first: everything here may have been answered within one turn of the event loop.
      await nextTurn();
    }
  }
}

/** Caches the fingerprint per subject and token: many clients may share both. */
function onceEach(fingerprint: Fingerprint): Fingerprint {
  const known = new Map<string, Promise<string | undefined>>();
  return (subject, caller) => {
    const key = `${subject}\n${caller.token ?? ''}`;
    const asked = known.get(key) ?? fingerprint(subject, caller);
    known.set(key, asked);
    return asked;
  };
}

/** Notifies the client when its view of the subject changed. */
async function lookAt(client: Client, subject: string, fingerprint: Fingerprint): Promise<void> {
  const { listener, seen, notify } = client;
  if (listener === undefined) return;
  let print: string | undefined;
  try {
    print = await fingerprint(subject, listener);
  } catch {
    // Expired token or no answer of the layer: there is nothing to report.
    return;
  }
  const before = seen.get(subject);
  if (before === undefined || client.listener !== listener) return;
  if (print === undefined && before.token !== listener.token) {
    forget(client, subject);
    return;
  }
  seen.set(subject, { token: listener.token, print });
  if (before.print === print) return;
  if (subject === LIST) notify('notifications/resources/list_changed');
  else notify('notifications/resources/updated', { uri: subject });
}
