import { type Batched, createBatched } from '@sallyport/std/batches';
import type { Pool } from 'pg';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { byKey, type CallColumns, type CallRow, keyOf } from '../calls/call-columns.ts';
import { overGivenRows, queryGivenRows } from '../calls/given-rows.ts';

interface RecordRow extends CallRow {
  readonly record: InvocationRecord;
}

const FIND = overGivenRows(
  'sallyport-records-find',
  2,
  (rows) => `
select call.tenant_id, call.invocation_id, call.record
from ${rows} as wanted (tenant_id, invocation_id)
join sallyport.tool_invocations as call using (tenant_id, invocation_id)`,
);

/** Reads the row of a call; simultaneous polls of clients share a statement. */
export function findRecords(pool: Pool): Batched<CallColumns, InvocationRecord | undefined> {
  return createBatched(
    async (wanted) => {
      const columns = [wanted.map(({ tenant }) => tenant), wanted.map(({ invocation }) => invocation)];
      const { rows } = await queryGivenRows<RecordRow>(pool, FIND, columns);
      const found = byKey(rows);
      return wanted.map((each) => found.get(keyOf(each))?.record);
    },
    { max: 64, atOnceMax: 4, keyOf },
  );
}
