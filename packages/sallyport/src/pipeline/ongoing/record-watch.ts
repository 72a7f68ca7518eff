/** Notifies when a pass of a call through this instance is over and on record. */
export interface RecordWatch extends Disposable {
  /** Reports that a record of the call was written. */
  note(): void;
  /** Waits for the next note, `ms` at most; returns at once when a note came since the last wait. */
  next(ms: number, signal?: AbortSignal): Promise<void>;
}

/** @param forget called once the watch is disposed */
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
