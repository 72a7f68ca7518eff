/** Notices when something was not done for a long time. */
export interface StaleWatch {
  /** Records that it was just done. */
  fresh(): void;
  stop(): void;
}

/**
 * Calls `onStale` once `staleMs`, plus a random part of up to a tenth, have passed since the last `fresh()`. Does
 * nothing before the first `fresh()`.
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
