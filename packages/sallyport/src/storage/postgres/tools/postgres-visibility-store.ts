import { sha256 } from '@sallyport/std/sha256';
import { type Kysely, sql } from 'kysely';
import type { VisibilityStore } from '../../../visibility/visibility-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import { keepEvents } from '../ledger/unrecorded-events.ts';
import type { Tables } from '../schema/tables.ts';

const RULES = 'sallyport.visibility_rules';
const REVISION = 'sallyport.visibility_revision';

/** Visibility rules in PostgreSQL. A key may be longer than an index entry, so its SHA-256 is the key of the row. */
export function postgresVisibilityStore(database: Kysely<Tables>): VisibilityStore {
  return {
    revision: () => inDatabase('ask for changed rules', () => revisionOf(database)),
    put: ({ tenantId, kind, key, rule }, events) =>
      inDatabase('keep the rule', () =>
        database.transaction().execute(async (transaction) => {
          const text = JSON.stringify(rule);
          const revision = await nextRevision(transaction);
          await transaction
            .insertInto(RULES)
            .values({ tenant_id: keyText(tenantId), kind, key_hash: hashOf(key), key: keyText(key), rule: text })
            .onConflict((conflict) =>
              conflict.columns(['tenant_id', 'kind', 'key_hash']).doUpdateSet({ rule: text, updated_at: new Date() }),
            )
            .execute();
          await keepEvents(transaction, events?.());
          return revision;
        }),
      ),
    remove: (tenantId, kind, key, events) =>
      inDatabase('remove the rule', () =>
        database.transaction().execute(async (transaction) => {
          // Takes the lock first, as in put: two writers that take locks in different orders could deadlock.
          await transaction.selectFrom(REVISION).select('revision').forUpdate().execute();
          const { numDeletedRows } = await transaction
            .deleteFrom(RULES)
            .where('tenant_id', '=', keyText(tenantId))
            .where('kind', '=', kind)
            .where('key_hash', '=', hashOf(key))
            .executeTakeFirst();
          if (numDeletedRows === 0n) return undefined;
          await keepEvents(transaction, events?.());
          return nextRevision(transaction);
        }),
      ),
    loadAll: () =>
      inDatabase('list the rules', async () => {
        // Reads the revision first: rules that are written meanwhile may be included already, and are then read once
        // more.
        const revision = await revisionOf(database);
        const rows = await database.selectFrom(RULES).select(['tenant_id', 'kind', 'key', 'rule']).execute();
        const rules = rows.map(({ tenant_id, kind, key, rule }) => ({
          tenantId: keyOfText(tenant_id),
          kind,
          key: keyOfText(key),
          rule,
        }));
        return { revision, rules };
      }),
  };
}

const hashOf = (key: string): string => sha256(keyText(key));

async function revisionOf(database: Kysely<Tables>): Promise<number> {
  const { revision } = await database.selectFrom(REVISION).select('revision').executeTakeFirstOrThrow();
  return Number(revision);
}

/** The lock on the one row orders the changes of all instances. */
async function nextRevision(database: Kysely<Tables>): Promise<number> {
  const { revision } = await database
    .updateTable(REVISION)
    .set({ revision: sql`revision + 1` })
    .returning('revision')
    .executeTakeFirstOrThrow();
  return Number(revision);
}
