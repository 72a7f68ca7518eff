import type { Log } from '../../telemetry/log.ts';

/** Who is told of changes. */
export interface Listeners {
  /** A listener that throws is logged and stops no other. */
  tell(): void;
  add(listener: () => void): Disposable;
}

/** Nobody listens yet. */
export function listeners(log: Log): Listeners {
  const all = new Set<() => void>();
  return {
    tell() {
      for (const listener of all) {
        try {
          listener();
        } catch (cause) {
          log.error('visibility-listener-failed', { reason: String(cause) });
        }
      }
    },
    add(listener) {
      // A wrapper of its own, so that one function may listen twice and each handle ends only its own.
      const entry = (): void => listener();
      all.add(entry);
      return { [Symbol.dispose]: () => void all.delete(entry) };
    },
  };
}
