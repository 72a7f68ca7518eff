import type { PolicyUpdate, PolicyUpdates } from '../../permission/policy-updates.port.ts';

/** Policy updates within this process. */
export function memoryPolicyUpdates(): PolicyUpdates {
  const listeners = new Set<{ readonly hear: (update: PolicyUpdate) => void }>();
  return {
    async publish(update) {
      for (const { hear } of listeners) {
        try {
          hear(update);
        } catch {
          // A failure of one listener does not concern the others.
        }
      }
    },
    subscribe(hear) {
      const listener = { hear };
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.asyncDispose]: async () => listeners.clear(),
  };
}
