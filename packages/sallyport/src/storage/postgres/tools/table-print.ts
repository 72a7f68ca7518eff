import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';

/** A text that is another one after each change of a table: of its keys and the transactions that wrote its rows. */
export async function tablePrint(database: Kysely<Tables>, table: keyof Tables, key: string): Promise<string> {
  const columns = [sql`xmin::text`, sql.ref('tenant_id'), sql.ref(key)];
  const row = sql`concat_ws(' ', ${sql.join(columns)})`;
  const { rows } = await sql<{ print: string }>`
    select coalesce(md5(string_agg(${row}, ',' order by tenant_id, ${sql.ref(key)})), '') as print
    from ${sql.table(table)}
  `.execute(database);
  return rows[0]?.print ?? '';
}
