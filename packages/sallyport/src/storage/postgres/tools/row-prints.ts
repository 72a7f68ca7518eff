import { type Kysely, sql } from 'kysely';
import type { StoredPrint } from '../../../mcp-servers/upstream-store.port.ts';
import { keyOfText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';

/** For each name in a column of a table, a text that is another one after each change of the rows that have it. */
export async function rowPrints(
  database: Kysely<Tables>,
  table: keyof Tables,
  column: string,
): Promise<readonly StoredPrint[]> {
  const { rows } = await sql<{ tenant_id: string; name: string; print: string }>`
    select tenant_id, ${sql.ref(column)} as name, md5(string_agg(xmin::text, ' ' order by xmin::text)) as print
    from ${sql.table(table)} group by tenant_id, ${sql.ref(column)}
  `.execute(database);
  return rows.map(({ tenant_id, name, print }) => ({ tenantId: keyOfText(tenant_id), name: keyOfText(name), print }));
}
