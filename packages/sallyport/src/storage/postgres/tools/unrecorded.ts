import { type Kysely, type Selectable, sql } from 'kysely';
import type { VersionKey } from '../../../registry/tool-store.port.ts';
import { keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';

/** Versions that one query returns. */
const UNRECORDED_MAX = 1_000;
/** Arbitrary, but the same in every version of the layer: two writers of the same marks must not deadlock. */
const MARKS_LOCK = sql.raw('5317004');

/** Marks versions as recorded in the audit. */
export async function markRecorded(database: Kysely<Tables>, keys: readonly VersionKey[]): Promise<void> {
  if (keys.length === 0) return;
  const given = keys.map(({ tenantId, toolId, version }) => ({
    tenant_id: keyText(tenantId),
    tool_id: keyText(toolId),
    version: keyText(version),
  }));
  await sql`
with writer as materialized (select pg_advisory_xact_lock(${MARKS_LOCK}))
update sallyport.tool_versions as kept set unrecorded_since = null
from writer, json_to_recordset(${JSON.stringify(given)}::json) as given (tenant_id text, tool_id text, version text)
where kept.tenant_id = given.tenant_id and kept.tool_id = given.tool_id and kept.version = given.version`.execute(
    database,
  );
}

/** Rows that were changed before a time, in ms since 1970, and not marked since; oldest first. */
export function unrecordedRows(
  database: Kysely<Tables>,
  before: number,
): Promise<readonly Selectable<Tables['sallyport.tool_versions']>[]> {
  return database
    .selectFrom('sallyport.tool_versions')
    .selectAll()
    .where('unrecorded_since', '<', sql<Date>`to_timestamp(${before}::double precision / 1000)`)
    .orderBy('unrecorded_since')
    .limit(UNRECORDED_MAX)
    .execute();
}
