import { type Kysely, sql } from 'kysely';
import type { ForgetQuery, Forgotten } from '../../../audit/ledger-store.port.ts';
import { completedAt, type InvocationRecord, withoutResult } from '../../../domain/invocation/record.ts';
import { keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';

const ROWS = 'sallyport.tool_invocations';

/**
 * Removes the results from a page of rows. The documents are rewritten here: the database's functions that change a
 * document refuse one that contains \u0000. Rows that another instance has locked are left to it.
 */
export function forgetResults(database: Kysely<Tables>, { before, at, limit, after }: ForgetQuery): Promise<Forgotten> {
  return database.transaction().execute(async (transaction) => {
    let selection = transaction
      .selectFrom(ROWS)
      .select('record')
      // Worded like the partial index, so that it is used.
      .where(sql<boolean>`state = 'COMPLETED' and not result_forgotten`)
      .where('accepted_at', '<', new Date(before))
      .orderBy('accepted_at')
      .orderBy(sql`tenant_id collate "C"`)
      .orderBy(sql`invocation_id collate "C"`)
      .limit(limit)
      .forUpdate()
      .skipLocked();
    if (after !== undefined) {
      const place = sql<boolean>`(accepted_at, tenant_id collate "C", invocation_id collate "C") >
        (to_timestamp(${after.acceptedAt}::double precision / 1000), ${keyText(after.tenantId)}, ${keyText(after.invocationId)})`;
      selection = selection.where(place);
    }
    const rows = (await selection.execute()).map(({ record }) => record);
    const due = rows.filter((record) => completedAt(record) < before);
    if (due.length > 0) await write(transaction, due, at);
    const last = rows.length < limit ? undefined : rows.at(-1);
    return {
      forgotten: due.filter((record) => 'result' in record).length,
      ...(last === undefined ? {} : { next: last }),
    };
  });
}

async function write(database: Kysely<Tables>, due: readonly InvocationRecord[], at: number): Promise<void> {
  const tenants = due.map(({ tenantId }) => keyText(tenantId));
  const ids = due.map(({ invocationId }) => keyText(invocationId));
  const texts = due.map((record) => JSON.stringify(withoutResult(record, at)));
  await sql`
update sallyport.tool_invocations as held set record = given.record::json, result_forgotten = true
from unnest(${tenants}::text[], ${ids}::text[], ${texts}::text[]) as given (tenant_id, invocation_id, record)
where held.tenant_id = given.tenant_id and held.invocation_id = given.invocation_id`.execute(database);
}
