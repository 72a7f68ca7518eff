import type { Pool } from 'pg';
import type { ClaimedKeys } from '../../../audit/ledger-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText } from '../key-text.ts';
import { type CallRow, columnsOf } from './call-columns.ts';
import { overGivenRows, queryGivenRows } from './given-rows.ts';

/** No index covers the calls of keys: it would cost each claim, and only an audit needs it. */
const HOLDERS = overGivenRows(
  'sallyport-key-holders',
  2,
  (given) => `
select distinct held.tenant_id, held.invocation_id
from ${given} as wanted (tenant_id, invocation_id)
join sallyport.idempotency_keys as held using (tenant_id, invocation_id)`,
);

/** Claimed keys in PostgreSQL. */
export function postgresClaimedKeys(pool: Pool): ClaimedKeys {
  return {
    holders: (calls) =>
      inDatabase('look for idempotency keys', async () => {
        if (calls.length === 0) return [];
        const wanted = calls.map(columnsOf);
        const columns = [wanted.map(({ tenant }) => tenant), wanted.map(({ invocation }) => invocation)];
        const { rows } = await queryGivenRows<CallRow>(pool, HOLDERS, columns);
        return rows.map((row) => ({
          tenantId: keyOfText(row.tenant_id),
          invocationId: keyOfText(row.invocation_id),
        }));
      }),
  };
}
