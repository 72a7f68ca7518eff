import type { Kysely } from 'kysely';
import type { UpstreamStore } from '../../../mcp-servers/upstream-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import { keepEvents } from '../ledger/unrecorded-events.ts';
import type { Tables } from '../schema/tables.ts';
import { rowPrints } from './row-prints.ts';

const TABLE = 'sallyport.upstreams';

/** Upstreams in PostgreSQL. */
export function postgresUpstreamStore(database: Kysely<Tables>): UpstreamStore {
  return {
    put: ({ tenantId, definition }, events) =>
      inDatabase('keep the upstream', () =>
        database.transaction().execute(async (transaction) => {
          const text = JSON.stringify(definition);
          await transaction
            .insertInto(TABLE)
            .values({ tenant_id: keyText(tenantId), name: keyText(definition.name), definition: text })
            .onConflict((conflict) =>
              conflict.columns(['tenant_id', 'name']).doUpdateSet({ definition: text, updated_at: new Date() }),
            )
            .execute();
          await keepEvents(transaction, events?.());
        }),
      ),
    remove: (tenantId, name, events) =>
      inDatabase('remove the upstream', () =>
        database.transaction().execute(async (transaction) => {
          const removal = transaction.deleteFrom(TABLE).where('tenant_id', '=', keyText(tenantId));
          const { numDeletedRows } = await removal.where('name', '=', keyText(name)).executeTakeFirst();
          if (numDeletedRows === 0n) return false;
          await keepEvents(transaction, events?.());
          return true;
        }),
      ),
    find: (tenantId, name) =>
      inDatabase('find the upstream', async () => {
        const found = database.selectFrom(TABLE).select('definition').where('tenant_id', '=', keyText(tenantId));
        return (await found.where('name', '=', keyText(name)).executeTakeFirst())?.definition;
      }),
    loadAll: () =>
      inDatabase('list the upstreams', async () => {
        const rows = await database.selectFrom(TABLE).select(['tenant_id', 'definition']).execute();
        return rows.map(({ tenant_id, definition }) => ({ tenantId: keyOfText(tenant_id), definition }));
      }),
    prints: () => inDatabase('see which upstreams changed', () => rowPrints(database, TABLE, 'name')),
  };
}
