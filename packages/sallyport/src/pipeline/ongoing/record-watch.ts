/** Tells when a pass of a call through this instance is over and on record. */
export interface RecordWatch extends Disposable {
  /** Something went on record. */
  note(): void;
  /** Waits for the next note, at most so long; not at all when there was one since the last wait. */
  next(ms: number, signal?: AbortSignal): Promise<void>;
}

/** @param forget called once it is disposed */
export function recordWatch(forget: () => void): RecordWatch {
  let noted = false;
  let wake: (() => void) | undefined;
  return {
    note() {
      noted = true;
      wake?.();
    },
    async next(ms, signal) {
      if (!noted && signal?.aborted !== true) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = () => resolve();
        const timer = setTimeout(wake, ms);
        signal?.addEventListener('abort', wake);
        await promise;
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        wake = undefined;
      }
      noted = false;
    },
    [Symbol.dispose]: forget,
  };
}
