import { type Kysely, sql } from 'kysely';
import type { OutcomeQuery, OutcomeStore, UnknownOutcome } from '../../../pipeline/outcome-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';
import { keepEvents } from '../ledger/unrecorded-events.ts';
import type { Tables } from '../schema/tables.ts';

/** Unknown outcomes in PostgreSQL: rows of the record, with settlements in a table of their own. */
export function postgresOutcomeStore(database: Kysely<Tables>): OutcomeStore {
  const find: OutcomeStore['find'] = async (tenantId, invocationId) => {
    const row = await database
      .selectFrom('sallyport.outcome_settlements')
      .select('settlement')
      .where('tenant_id', '=', keyText(tenantId))
      .where('invocation_id', '=', keyText(invocationId))
      .executeTakeFirst();
    return row?.settlement;
  };
  return {
    list: (query) => inDatabase('list the unknown outcomes', () => list(database, query)),
    find: (tenantId, invocationId) => inDatabase('read the settlement', () => find(tenantId, invocationId)),
    findAll: (tenantId, invocationIds) =>
      inDatabase('read the settlements', async () => {
        if (invocationIds.length === 0) return [];
        const rows = await database
          .selectFrom('sallyport.outcome_settlements')
          .select('settlement')
          .where('tenant_id', '=', keyText(tenantId))
          .where('invocation_id', '=', sql<string>`any(${invocationIds.map(keyText)}::text[])`)
          .execute();
        return rows.map(({ settlement }) => settlement);
      }),
    forgetResults: (before, limit) => inDatabase('forget old results', () => forget(database, before, limit)),
    settle: (settlement, events) =>
      inDatabase('settle the outcome', async () => {
        const { tenantId, invocationId } = settlement;
        const isOwn = await database.transaction().execute(async (transaction) => {
          const { numInsertedOrUpdatedRows } = await transaction
            .insertInto('sallyport.outcome_settlements')
            .values({
              tenant_id: keyText(tenantId),
              invocation_id: keyText(invocationId),
              settlement: JSON.stringify(settlement),
              settled_at: new Date(settlement.at),
            })
            .onConflict((conflict) => conflict.doNothing())
            .executeTakeFirstOrThrow();
          if (numInsertedOrUpdatedRows !== 1n) return false;
          await keepEvents(transaction, events?.(settlement));
          return true;
        });
        // The conflicting row is never changed or removed, so it can be read now.
        return (isOwn ? undefined : await find(tenantId, invocationId)) ?? settlement;
      }),
  };
}

/** In the same way as forget-results.ts of the ledger. */
function forget(database: Kysely<Tables>, before: number, limit: number): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const rows = await transaction
      .selectFrom('sallyport.outcome_settlements')
      .select('settlement')
      // Worded like the partial index, so that it is used.
      .where(sql<boolean>`not result_forgotten`)
      .where('settled_at', '<', new Date(before))
      .orderBy('settled_at')
      .limit(limit)
      .forUpdate()
      .skipLocked()
      .execute();
    const kept = rows.map(({ settlement: { result: _result, ...rest } }) => rest);
    const tenants = kept.map(({ tenantId }) => keyText(tenantId));
    const ids = kept.map(({ invocationId }) => keyText(invocationId));
    await sql`
update sallyport.outcome_settlements as held set settlement = given.settlement::json, result_forgotten = true
from unnest(${tenants}::text[], ${ids}::text[], ${kept.map((each) => JSON.stringify(each))}::text[])
  as given (tenant_id, invocation_id, settlement)
where held.tenant_id = given.tenant_id and held.invocation_id = given.invocation_id`.execute(transaction);
    return rows.length;
  });
}

async function list(
  database: Kysely<Tables>,
  { tenantId, settled, after, limit }: OutcomeQuery,
): Promise<readonly UnknownOutcome[]> {
  let selection = database
    .selectFrom('sallyport.tool_invocations as calls')
    .leftJoin('sallyport.outcome_settlements as said', (join) =>
      join.onRef('said.tenant_id', '=', 'calls.tenant_id').onRef('said.invocation_id', '=', 'calls.invocation_id'),
    )
    .select(['calls.record', 'said.settlement'])
    .where('calls.tenant_id', '=', keyText(tenantId))
    // Worded like the partial index, so it is no parameter.
    .where(sql<boolean>`calls.error_code = 'E3804'`)
    .where('said.invocation_id', settled ? 'is not' : 'is', null)
    .orderBy('calls.accepted_at')
    .orderBy(sql`calls.invocation_id collate "C"`)
    .limit(limit);
  if (after !== undefined) {
    selection = selection.where(
      sql<boolean>`(calls.accepted_at, calls.invocation_id collate "C") >
        (to_timestamp(${after.acceptedAt}::double precision / 1000), ${keyText(after.invocationId)})`,
    );
  }
  const rows = await selection.execute();
  return rows.map(({ record, settlement }) => (settlement === null ? { record } : { record, settlement }));
}
