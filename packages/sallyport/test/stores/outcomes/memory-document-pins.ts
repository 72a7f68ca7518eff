import type { DocumentPinStore } from '../../../src/bridges/document-stores.port.ts';

/** Pinned versions in memory, as JSON text so that callers never share objects with the store. */
export function memoryDocumentPins(): DocumentPinStore {
  const pinsOf = new Map<string, string>();
  return {
    async put(tenantId, invocationId, pins) {
      pinsOf.set(JSON.stringify([tenantId, invocationId]), JSON.stringify(pins));
    },
    async find(tenantId, invocationId) {
      const found = pinsOf.get(JSON.stringify([tenantId, invocationId]));
      return found === undefined ? undefined : JSON.parse(found);
    },
  };
}
