import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';

const TABLE = 'sallyport.identity_revisions';

type Kind = Tables[typeof TABLE]['kind'];

/** How often things of a kind were changed. */
export async function revisionOf(database: Kysely<Tables>, kind: Kind): Promise<number> {
  const row = await database.selectFrom(TABLE).select('revision').where('kind', '=', kind).executeTakeFirstOrThrow();
  return Number(row.revision);
}

/** Counts a change. The lock on the row, held until the transaction ends, puts changes of all instances in an order. */
export async function nextRevision(transaction: Kysely<Tables>, kind: Kind): Promise<number> {
  const row = await transaction
    .updateTable(TABLE)
    .set({ revision: sql`revision + 1` })
    .where('kind', '=', kind)
    .returning('revision')
    .executeTakeFirstOrThrow();
  return Number(row.revision);
}
