import type { PolicyUpdate, PolicyUpdates } from '../../permission/policy-updates.port.ts';

/** Policy updates within this process. */
export function memoryPolicyUpdates(): PolicyUpdates {
  const listeners = new Set<{ readonly receive: (update: PolicyUpdate) => void }>();
  return {
    async publish(update) {
      for (const { receive } of listeners) {
        try {
          receive(update);
        } catch {
          // A failure of one listener does not concern the others.
        }
      }
    },
    subscribe(receive) {
      const listener = { receive };
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.asyncDispose]: async () => listeners.clear(),
  };
}
