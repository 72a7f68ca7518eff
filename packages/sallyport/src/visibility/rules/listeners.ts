import type { Log } from '../../telemetry/log.ts';

/** Listeners for changes. */
export interface Listeners {
  /** Notifies all. A listener that throws is logged and does not affect others. */
  notify(): void;
  add(listener: () => void): Disposable;
}

/** Makes the list, empty. */
export function listeners(log: Log): Listeners {
  const all = new Set<() => void>();
  return {
    notify() {
      for (const listener of all) {
        try {
          listener();
        } catch (cause) {
          log.error('visibility-listener-failed', { reason: String(cause) });
        }
      }
    },
    add(listener) {
      // A wrapper per subscription, so that one function may listen twice and each handle ends only its own.
      const entry = (): void => listener();
      all.add(entry);
      return { [Symbol.dispose]: () => void all.delete(entry) };
    },
  };
}
