import type { PolicyUpdate, PolicyUpdates } from '../../permission/policy-updates.port.ts';
import { createListeners } from '../listeners.ts';

/** Policy updates within this process. */
export function memoryPolicyUpdates(): PolicyUpdates {
  const { notify, subscribe, clear } = createListeners<PolicyUpdate>();
  return {
    publish: async (update) => notify(update),
    subscribe,
    [Symbol.asyncDispose]: async () => clear(),
  };
}
