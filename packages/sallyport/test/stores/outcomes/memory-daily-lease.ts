import type { DailyLease } from '../../../src/orchestration/upkeep/daily-lease.port.ts';

/** Leases of daily work in memory, for tests. */
export function memoryDailyLease(now: () => number = Date.now): DailyLease {
  const held = new Map<string, { holder: string; until: number; doneFor: number }>();
  return {
    async take(work, due, holder, leaseMs) {
      const lease = held.get(work) ?? { holder, until: 0, doneFor: Number.NEGATIVE_INFINITY };
      if (lease.doneFor >= due || (lease.holder !== holder && lease.until > now())) return false;
      held.set(work, { ...lease, holder, until: now() + leaseMs });
      return true;
    },
    async done(work, due, holder) {
      const lease = held.get(work);
      if (lease?.holder === holder) held.set(work, { holder, until: now(), doneFor: due });
    },
  };
}
