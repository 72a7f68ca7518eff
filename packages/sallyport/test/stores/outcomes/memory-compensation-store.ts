import type {
  Compensation,
  CompensationStep,
  CompensationStore,
} from '../../../src/orchestration/compensation-store.port.ts';

/** Compensations in memory. There are at most as many rows as calls in the ledger, which is bounded. */
export function memoryCompensationStore(): CompensationStore {
  const rows = new Map<string, Compensation>();
  const stands = (key: string, from: CompensationStep | undefined): boolean => {
    const row = rows.get(key);
    return row?.attempt === from?.attempt && row?.state === from?.state;
  };
  return {
    async find(tenantId, invocationIds) {
      return invocationIds.flatMap((id) => rows.get(keyOf(tenantId, id)) ?? []);
    },
    async change(to, from, events) {
      const key = keyOf(to.tenantId, to.invocationId);
      if (!stands(key, from)) return false;
      events?.();
      rows.set(key, { ...to });
      return true;
    },
    async remove(tenantId, invocationId, from) {
      const key = keyOf(tenantId, invocationId);
      return stands(key, from) && rows.delete(key);
    },
    async open(limit) {
      const open = [...rows.values()].filter(({ state }) => state === 'compensating');
      return open.sort((one, other) => one.startedAt - other.startedAt).slice(0, limit);
    },
  };
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
