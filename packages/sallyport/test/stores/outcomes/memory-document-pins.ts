import type { DocumentPinStore } from '../../../src/bridges/document-stores.port.ts';

/**
 * Pinned versions in memory, as JSON text so that callers never share objects with the store. It knows no calls: each
 * counts as over, without checkpoints.
 */
export function memoryDocumentPins(now: () => number = Date.now): DocumentPinStore {
  const pinsOf = new Map<string, { readonly pins: string; readonly putAt: number }>();
  return {
    async put(tenantId, invocationId, pins) {
      pinsOf.set(JSON.stringify([tenantId, invocationId]), { pins: JSON.stringify(pins), putAt: now() });
    },
    async find(tenantId, invocationId) {
      const found = pinsOf.get(JSON.stringify([tenantId, invocationId]));
      return found === undefined ? undefined : JSON.parse(found.pins);
    },
    async forget(putBefore, limit) {
      const old = [...pinsOf].filter(([, { putAt }]) => putAt < putBefore).sort(([, a], [, b]) => a.putAt - b.putAt);
      const forgotten = old.slice(0, limit);
      for (const [key] of forgotten) pinsOf.delete(key);
      return forgotten.length;
    },
  };
}
