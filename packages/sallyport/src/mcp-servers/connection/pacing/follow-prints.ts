import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../telemetry/log.ts';
import type { StoredPlace, StoredPrint } from '../../upstream-store.port.ts';

/** Most looks that pass before a place that failed is tried again. */
const LOOKS_MAX = 16;

/** What of a store is known here, place by place. */
export interface Followed {
  /** What the store holds now. */
  prints(): Promise<readonly StoredPrint[]>;
  /** The places that are known here. */
  here(): Iterable<StoredPlace>;
  /** Brings one place to what is stored. */
  agree(place: StoredPlace): Promise<void>;
  /** Named in the log: `NAME-not-read`, `NAME-not-agreed`. */
  readonly name: string;
}

/** Follows what other instances store. */
export interface Follower {
  /** What was just read as a whole needs no second reading. @param prints read before it */
  agreed(prints: readonly StoredPrint[]): void;
  /**
   * Looks every `intervalMs` until disposed; disposing waits for the look under way. Each place that changed is brought to
   * what is stored in the background, since a slow one must not delay another. One that fails is tried again after
   * pauses that grow, and logged once until it changes anew.
   */
  follow(intervalMs: number): AsyncDisposable;
}

/** Makes a follower that looks only after `follow`. */
export function followPrints(followed: Followed, log: Log): Follower {
  const { name } = followed;
  const prints = new Map<string, string | undefined>();
  const failures = new Map<string, Failure>();
  const underWay = new Set<string>();
  const ending = new AbortController();
  const agree = async (key: string, place: StoredPlace, print: string | undefined): Promise<void> => {
    underWay.add(key);
    try {
      await followed.agree(place);
      prints.set(key, print);
      failures.delete(key);
    } catch (thrown) {
      const before = failures.get(key);
      const looks = before === undefined ? 1 : Math.min(2 * before.looks, LOOKS_MAX);
      failures.set(key, { print, looks, left: looks });
      if (before === undefined && !ending.signal.aborted)
        log.warn(`${name}-not-agreed`, { tenant_id: place.tenantId, name: place.name, error: String(thrown) });
    } finally {
      underWay.delete(key);
    }
  };
  const look = async (): Promise<void> => {
    const stored = byKey(await followed.prints());
    const places = new Map([...byKey(followed.here()), ...stored]);
    for (const known of [prints, failures]) for (const key of known.keys()) if (!places.has(key)) known.delete(key);
    for (const [key, place] of places) {
      const print = stored.get(key)?.print;
      const isAsStored = print !== undefined && print === prints.get(key);
      if (isAsStored || underWay.has(key) || mustWait(failures, key, print)) continue;
      void agree(key, place, print);
    }
  };
  return {
    agreed: (read) => byKey(read).forEach(({ print }, key) => void prints.set(key, print)),
    follow(intervalMs) {
      const running = repeatedly(intervalMs, ending.signal, look, (error) => log.warn(`${name}-not-read`, { error }));
      return {
        async [Symbol.asyncDispose]() {
          ending.abort();
          await running;
        },
      };
    },
  };
}

/** A place that could not be brought to what is stored. */
interface Failure {
  /** What was stored then. */
  readonly print: string | undefined;
  /** Looks from that try to the next. */
  readonly looks: number;
  /** Those that are left. */
  left: number;
}

function mustWait(failures: Map<string, Failure>, key: string, print: string | undefined): boolean {
  const failure = failures.get(key);
  if (failure === undefined) return false;
  if (failure.print !== print) return !failures.delete(key);
  failure.left -= 1;
  return failure.left > 0;
}

/** @param onFailure called once for failures that follow one another and say the same */
async function repeatedly(
  intervalMs: number,
  signal: AbortSignal,
  work: () => Promise<void>,
  onFailure: (error: string) => void,
): Promise<void> {
  let failed: string | undefined;
  while (!signal.aborted) {
    await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    const before = failed;
    failed = await work().then(() => undefined, String);
    if (failed !== undefined && failed !== before) onFailure(failed);
  }
}

const byKey = <Place extends StoredPlace>(places: Iterable<Place>): Map<string, Place> =>
  new Map([...places].map((place) => [JSON.stringify([place.tenantId, place.name]), place]));
