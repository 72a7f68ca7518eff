import { type Clock, systemClock } from '@sallyport/std/clock';
import { LRUCache } from 'lru-cache';
import type { VectorStore } from '../../src/registry/vectors.port.ts';

/** Default of `vectorsMax`: 200 MB of vectors with 512 numbers each. */
const VECTORS_MAX = 100_000;

/** Vectors in memory; of more than `vectorsMax` the least recently used are removed. The default is 100 000. */
export function memoryVectorStore(options: { readonly clock?: Clock; readonly vectorsMax?: number } = {}): VectorStore {
  const { clock = systemClock, vectorsMax = VECTORS_MAX } = options;
  const kept = new LRUCache<string, { readonly vector: Float32Array; usedAt: number }>({ max: vectorsMax });
  return {
    async get(model, dimensions, contentHashes) {
      return contentHashes.flatMap((contentHash) => {
        const found = kept.get(keyOf(model, contentHash));
        if (found === undefined || found.vector.length !== dimensions) return [];
        found.usedAt = clock.now();
        return [{ contentHash, vector: found.vector.slice() }];
      });
    },
    async put(model, vectors) {
      for (const { contentHash, vector } of vectors)
        kept.set(keyOf(model, contentHash), { vector: vector.slice(), usedAt: clock.now() });
    },
    async prune(unusedSince) {
      const old = [...kept.entries()].filter(([, { usedAt }]) => usedAt < unusedSince).slice(0, PRUNED_MAX);
      for (const [key] of old) kept.delete(key);
      return old.length;
    },
  };
}

const PRUNED_MAX = 10_000;

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
