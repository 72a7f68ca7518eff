import type { Log } from '../../telemetry/log.ts';

/** Changes in the catalogue of one tenant. */
export interface RegistryChange {
  readonly tenantId: string;
  readonly toolIds: readonly string[];
}

/** Listeners for changes, in the order of subscription. */
export interface Changes {
  /** No effect for an empty list of ids. A listener that throws is logged and does not affect others. */
  notify(tenantId: string, toolIds: readonly string[]): void;
  subscribe(listener: (change: RegistryChange) => void): Disposable;
}

/** Makes the list of listeners, empty. */
export function createChanges(log: Log): Changes {
  const listeners = new Set<(change: RegistryChange) => void>();
  return {
    notify(tenantId, toolIds) {
      if (toolIds.length === 0) return;
      for (const listener of listeners) {
        try {
          listener({ tenantId, toolIds });
        } catch (cause) {
          log.error('registry-listener-failed', { reason: String(cause) });
        }
      }
    },
    subscribe(listener) {
      // A wrapper per subscription, so that one function may listen twice and each handle ends only its own.
      const entry = (change: RegistryChange): void => listener(change);
      listeners.add(entry);
      return { [Symbol.dispose]: () => void listeners.delete(entry) };
    },
  };
}
