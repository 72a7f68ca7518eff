import { ownerKey } from '../../../src/domain/invocation/call-owner.ts';
import {
  OVERFLOWS_PER_OWNER_MAX,
  type Overflow,
  type OverflowStore,
} from '../../../src/model-facing/overflow-store.port.ts';

/** Overflows in memory. */
export function memoryOverflowStore(): OverflowStore {
  const overflows = new Map<string, Overflow>();
  const keyOf = (tenantId: string, invocationId: string): string => JSON.stringify([tenantId, invocationId]);
  return {
    async keep(overflow) {
      overflows.set(keyOf(overflow.tenantId, overflow.invocationId), { ...overflow });
      const own = [...overflows].filter(([, each]) => ownerKey(each) === ownerKey(overflow));
      const newestFirst = own.toSorted(([, one], [, other]) => other.keptAt - one.keptAt);
      for (const [key] of newestFirst.slice(OVERFLOWS_PER_OWNER_MAX)) overflows.delete(key);
    },
    find: async (tenantId, invocationId) => overflows.get(keyOf(tenantId, invocationId)),
    async forget(before, limit) {
      const old = [...overflows].filter(([, { keptAt }]) => keptAt < before).slice(0, limit);
      for (const [key] of old) overflows.delete(key);
      return old.length;
    },
  };
}
