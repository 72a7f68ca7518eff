import type { LedgerStore } from '../../../src/audit/ledger-store.port.ts';
import type { InvocationRecord } from '../../../src/domain/invocation/record.ts';
import type { OutcomeQuery, OutcomeSettlement, OutcomeStore } from '../../../src/pipeline/outcome-store.port.ts';

/** A ledger that can also list rows by their error. */
export interface FailedRows extends LedgerStore {
  /** Rows of the tenant that ended with this error, in any order. */
  failedWith(tenantId: string, code: string): Promise<readonly InvocationRecord[]>;
}

/** Unknown outcomes of the calls in a ledger in memory. */
export function memoryOutcomeStore(ledger: FailedRows): OutcomeStore {
  /** Settlements as JSON text, so that callers never share objects with the store. At most one for each row. */
  const settlements = new Map<string, string>();
  const find = (tenantId: string, invocationId: string): OutcomeSettlement | undefined => {
    const text = settlements.get(keyOf(tenantId, invocationId));
    return text === undefined ? undefined : (JSON.parse(text) as OutcomeSettlement);
  };
  return {
    async list({ tenantId, settled, after, limit }) {
      const rows = await ledger.failedWith(tenantId, 'E3804');
      const behind = rows.filter((record) => after === undefined || byAcceptance(record, after) > 0).sort(byAcceptance);
      const known = behind.map((record) => ({ record, settlement: find(tenantId, record.invocationId) }));
      return known
        .filter(({ settlement }) => (settlement !== undefined) === settled)
        .slice(0, limit)
        .map(({ record, settlement }) => (settlement === undefined ? { record } : { record, settlement }));
    },
    async find(tenantId, invocationId) {
      return find(tenantId, invocationId);
    },
    async findAll(tenantId, invocationIds) {
      return invocationIds.flatMap((invocationId) => find(tenantId, invocationId) ?? []);
    },
    async settle(settlement, events) {
      const { tenantId, invocationId } = settlement;
      const standing = find(tenantId, invocationId);
      if (standing !== undefined) return standing;
      events?.(settlement);
      settlements.set(keyOf(tenantId, invocationId), JSON.stringify(settlement));
      return settlement;
    },
    async forgetResults(before, limit) {
      let seen = 0;
      for (const [key, text] of settlements) {
        const { result, ...kept } = JSON.parse(text) as OutcomeSettlement;
        if (result === undefined || kept.at >= before) continue;
        settlements.set(key, JSON.stringify(kept));
        seen += 1;
        if (seen >= limit) break;
      }
      return seen;
    },
  };
}

function byAcceptance(one: NonNullable<OutcomeQuery['after']>, other: NonNullable<OutcomeQuery['after']>): number {
  if (one.acceptedAt !== other.acceptedAt) return one.acceptedAt - other.acceptedAt;
  if (one.invocationId === other.invocationId) return 0;
  return one.invocationId < other.invocationId ? -1 : 1;
}

const keyOf = (tenantId: string, invocationId: string): string => `${tenantId.length} ${tenantId}${invocationId}`;
