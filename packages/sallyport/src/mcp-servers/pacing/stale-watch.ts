/** Notices what was not done for long. */
export interface StaleWatch {
  /** It was just done. */
  fresh(): void;
  stop(): void;
}

/**
 * Calls `onStale` once `staleMs`, and a random part of a tenth of it, have passed since the last `fresh()`. It does nothing
 * before the first.
 * @param random 0 (inclusive) to 1 (exclusive)
 */
export function createStaleWatch(staleMs: number, random: () => number, onStale: () => void): StaleWatch {
  let timer: NodeJS.Timeout | undefined;
  return {
    fresh() {
      clearTimeout(timer);
      timer = setTimeout(onStale, staleMs * (1 + random() / 10)).unref();
    },
    stop: () => clearTimeout(timer),
  };
}
