import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';

const TABLE = 'sallyport.identity_revisions';

type Kind = Tables[typeof TABLE]['kind'];

/** Number of changes so far to things of one kind. */
export async function revisionOf(database: Kysely<Tables>, kind: Kind): Promise<number> {
  const row = await database.selectFrom(TABLE).select('revision').where('kind', '=', kind).executeTakeFirstOrThrow();
  return Number(row.revision);
}

/** Increments the revision. The row lock, held until the transaction ends, orders the changes of all instances. */
export async function nextRevision(transaction: Kysely<Tables>, kind: Kind): Promise<number> {
  const row = await transaction
    .updateTable(TABLE)
    .set({ revision: sql`revision + 1` })
    .where('kind', '=', kind)
    .returning('revision')
    .executeTakeFirstOrThrow();
  return Number(row.revision);
}
