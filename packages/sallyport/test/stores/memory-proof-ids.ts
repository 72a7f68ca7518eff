import type { ProofIdStore } from '../../src/identity/proof-ids.port.ts';

/** A proof-id store in memory, for tests and measurements. */
export function memoryProofIds(now: () => number = Date.now): ProofIdStore {
  const taken = new Map<string, number>();
  return {
    take: async (hash, keptMs) => {
      if ((taken.get(hash) ?? Number.NEGATIVE_INFINITY) > now()) return false;
      taken.set(hash, now() + keptMs);
      return true;
    },
  };
}
