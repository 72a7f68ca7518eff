import { type Kysely, sql } from 'kysely';
import type {
  Compensation,
  CompensationStep,
  CompensationStore,
} from '../../../orchestration/compensation-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';
import { keepEvents } from '../ledger/unrecorded-events.ts';
import type { Tables } from '../schema/tables.ts';

/** Compensations in PostgreSQL. */
export function postgresCompensationStore(database: Kysely<Tables>): CompensationStore {
  return {
    find: (tenantId, invocationIds) =>
      inDatabase('read what was taken back', async () => {
        if (invocationIds.length === 0) return [];
        const rows = await database
          .selectFrom('sallyport.compensations')
          .select('compensation')
          .where('tenant_id', '=', keyText(tenantId))
          .where('invocation_id', 'in', invocationIds.map(keyText))
          .execute();
        return rows.map(({ compensation }) => compensation);
      }),
    change: (to, from, events) =>
      inDatabase('write what is taken back', () =>
        database.transaction().execute(async (transaction) => {
          const isWritten = from === undefined ? await insert(transaction, to) : await update(transaction, to, from);
          if (isWritten) await keepEvents(transaction, events?.());
          return isWritten;
        }),
      ),
    remove: (tenantId, invocationId, from) =>
      inDatabase('write what is taken back', async () => {
        const removed = await database
          .deleteFrom('sallyport.compensations')
          .where('tenant_id', '=', keyText(tenantId))
          .where('invocation_id', '=', keyText(invocationId))
          .where('attempt', '=', from.attempt)
          .where('state', '=', from.state)
          .executeTakeFirst();
        return removed.numDeletedRows === 1n;
      }),
    open: (limit) =>
      inDatabase('read what is taken back', async () => {
        const rows = await database
          .selectFrom('sallyport.compensations')
          .select('compensation')
          .where('state', '=', sql.lit('compensating'))
          .orderBy('started_at')
          .limit(limit)
          .execute();
        return rows.map(({ compensation }) => compensation);
      }),
  };
}

async function insert(database: Kysely<Tables>, to: Compensation): Promise<boolean> {
  const inserted = await database
    .insertInto('sallyport.compensations')
    .values(rowOf(to))
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows === 1n;
}

async function update(database: Kysely<Tables>, to: Compensation, from: CompensationStep): Promise<boolean> {
  const updated = await database
    .updateTable('sallyport.compensations')
    .set(rowOf(to))
    .where('tenant_id', '=', keyText(to.tenantId))
    .where('invocation_id', '=', keyText(to.invocationId))
    .where('attempt', '=', from.attempt)
    .where('state', '=', from.state)
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

const rowOf = (compensation: Compensation) => ({
  tenant_id: keyText(compensation.tenantId),
  invocation_id: keyText(compensation.invocationId),
  attempt: compensation.attempt,
  state: compensation.state,
  started_at: new Date(compensation.startedAt),
  compensation: JSON.stringify(compensation),
});
