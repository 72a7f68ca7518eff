import type { LedgerStore } from '../../../src/audit/ledger-store.port.ts';

/** The positions up to which sinks have read, in memory. */
export function sinkPositions(): Pick<LedgerStore, 'sinkPosition' | 'setSinkPosition'> {
  const sinks = new Map<string, number>();
  return {
    async sinkPosition(sink) {
      return sinks.get(sink) ?? 0;
    },
    async setSinkPosition(sink, position) {
      sinks.set(sink, position);
    },
  };
}
