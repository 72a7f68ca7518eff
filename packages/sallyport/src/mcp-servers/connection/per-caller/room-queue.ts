import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/** Most calls that wait for room at one upstream; one more is refused with E3803. */
const WAITING_MAX = 1024;
/** Delay after which a call that found no room may retry, ms. */
const RETRY_AFTER_MS = 1_000;

/** Calls that wait for room, in order of arrival. */
export interface RoomQueue<Place> {
  /** How many wait. */
  size(): number;
  /**
   * Waits until the attempt returns a place.
   * @param attempt tried at every `look`, given how many calls wait before this one; a returned place is taken
   * @throws E3803 after `ms`, and at once when too many wait; the signal's reason; the error passed to `refuse`
   */
  wait(attempt: (ahead: number) => Place | undefined, ms: number, signal: AbortSignal | undefined): Promise<Place>;
  /** Room may have become free: every waiting call tries. */
  look(): void;
  refuse(reason: ToolLayerError): void;
}

interface Waiter<Place> {
  attempt(ahead: number): Place | undefined;
  resolve(place: Place): void;
  reject(reason: unknown): void;
}

/** Makes an empty queue. */
export function createRoomQueue<Place>(label: string): RoomQueue<Place> {
  const waiting = new Set<Waiter<Place>>();
  return {
    size: () => waiting.size,
    wait(attempt, ms, signal) {
      if (signal?.aborted === true) return Promise.reject(signal.reason);
      if (waiting.size >= WAITING_MAX) return Promise.reject(noRoom(label));
      const { promise, resolve, reject } = Promise.withResolvers<Place>();
      const leave = (): void => {
        waiting.delete(waiter);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter<Place> = {
        attempt,
        resolve(place) {
          leave();
          resolve(place);
        },
        reject(reason) {
          leave();
          reject(reason);
        },
      };
      const onAbort = (): void => waiter.reject(signal?.reason);
      const timer = setTimeout(() => waiter.reject(noRoom(label)), ms);
      signal?.addEventListener('abort', onAbort, { once: true });
      waiting.add(waiter);
      return promise;
    },
    look() {
      let ahead = 0;
      for (const waiter of [...waiting]) {
        const place = waiter.attempt(ahead);
        if (place === undefined) ahead += 1;
        else waiter.resolve(place);
      }
    },
    refuse(reason) {
      for (const waiter of [...waiting]) waiter.reject(reason);
    },
  };
}

function noRoom(label: string): ToolLayerError {
  return new ToolLayerError(
    'E3803',
    `All connections that callers may have to the upstream '${label}' are in use. Try again later.`,
    { details: { reached: false }, retryAfterMs: RETRY_AFTER_MS },
  );
}
