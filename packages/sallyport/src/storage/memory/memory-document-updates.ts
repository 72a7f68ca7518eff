import type { DocumentUpdates } from '../../bridges/document-updates.port.ts';
import { createListeners } from '../listeners.ts';

/** Updates of documents within this process. */
export function memoryDocumentUpdates(): DocumentUpdates {
  const { notify, subscribe, clear } = createListeners<Parameters<DocumentUpdates['publish']>[0] | undefined>();
  return {
    publish: async (update) => notify(update),
    subscribe,
    [Symbol.asyncDispose]: async () => clear(),
  };
}
