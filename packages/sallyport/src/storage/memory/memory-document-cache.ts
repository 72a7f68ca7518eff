import { LRUCache } from 'lru-cache';
import type { CachePlace, DocumentCache, RememberedAnswer } from '../../bridges/document-stores.port.ts';

/** What an entry weighs beside its content, in bytes. */
const ENTRY_BYTES = 1024;

/**
 * Answers of document servers in this process; those used longest ago are dropped first.
 * @param bytesMax of all entries; less than one entry remembers nothing
 */
export function memoryDocumentCache({ bytesMax }: { readonly bytesMax: number }): DocumentCache {
  /** Scopes that hold a key, by tenant and key. */
  const scopes = new Map<string, Set<string>>();
  const entries = new LRUCache<string, RememberedAnswer>({
    maxSize: Math.max(1, bytesMax),
    sizeCalculation: ({ answer }) => ('content' in answer ? Buffer.byteLength(answer.content) : 0) + ENTRY_BYTES,
    onInsert: (_entry, id) => {
      const [holders, scope] = partsOf(id);
      scopes.set(holders, (scopes.get(holders) ?? new Set()).add(scope));
    },
    disposeAfter: (_entry, id, reason) => {
      if (reason === 'set') return;
      const [holders, scope] = partsOf(id);
      const left = scopes.get(holders);
      left?.delete(scope);
      if (left?.size === 0) scopes.delete(holders);
    },
  });
  return {
    get: (place, key) => entries.get(idOf(place, key)),
    async put(place, key, answer, keptMs) {
      if (keptMs > 0) entries.set(idOf(place, key), answer, { ttl: keptMs });
    },
    async drop(tenantId, keys) {
      for (const key of keys) {
        for (const scope of [...(scopes.get(JSON.stringify([tenantId, key])) ?? [])])
          entries.delete(idOf({ tenantId, scope }, key));
      }
    },
    async clear(tenantId) {
      if (tenantId === undefined) return entries.clear();
      const prefix = JSON.stringify([tenantId]).slice(0, -1);
      for (const id of [...entries.keys()]) if (id.startsWith(`${prefix},`)) entries.delete(id);
    },
  };
}

const idOf = ({ tenantId, scope }: CachePlace, key: string): string => `${JSON.stringify([tenantId, key])}\n${scope}`;

/** Tenant and key, and the scope; JSON holds no line break. */
const partsOf = (id: string): [holders: string, scope: string] => {
  const at = id.indexOf('\n');
  return [id.slice(0, at), id.slice(at + 1)];
};
