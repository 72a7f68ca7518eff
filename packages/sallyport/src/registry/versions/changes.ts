import type { Log } from '../../telemetry/log.ts';

/** What changed in the catalogue of one tenant. */
export interface RegistryChange {
  readonly tenantId: string;
  readonly toolIds: readonly string[];
}

/** Who is told of changes, in the order of asking. */
export interface Changes {
  /** Does nothing for an empty list of ids. A listener that throws is logged and stops no other. */
  tell(tenantId: string, toolIds: readonly string[]): void;
  subscribe(listener: (change: RegistryChange) => void): Disposable;
}

/** Nobody listens yet. */
export function createChanges(log: Log): Changes {
  const listeners = new Set<(change: RegistryChange) => void>();
  return {
    tell(tenantId, toolIds) {
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
      // A wrapper of its own, so that one function may listen twice and each handle ends only its own.
      const entry = (change: RegistryChange): void => listener(change);
      listeners.add(entry);
      return { [Symbol.dispose]: () => void listeners.delete(entry) };
    },
  };
}
