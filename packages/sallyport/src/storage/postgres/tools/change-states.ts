import { type Kysely, sql } from 'kysely';
import type { StateMove } from '../../../registry/tool-store.port.ts';
import { keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';
import { lifecycleColumns } from './lifecycle-columns.ts';
import { nextRevision } from './next-revision.ts';

/** Versions changed by one statement. */
export const MOVES_PER_STATEMENT = 1_000;

/**
 * Changes the state of versions, at most {@link MOVES_PER_STATEMENT} with one statement; the caller opens the
 * transaction.
 */
export async function changeStates(database: Kysely<Tables>, moves: readonly StateMove[]): Promise<readonly boolean[]> {
  const moved = moves.map(() => false);
  for (let from = 0; from < moves.length; from += MOVES_PER_STATEMENT) {
    const some = moves.slice(from, from + MOVES_PER_STATEMENT);
    for (const at of await changeSome(database, some)) moved[from + at] = true;
  }
  return moved;
}

/**
 * Indexes of the versions that were changed. Writers take turns at the revision, so they never deadlock. Texts about a
 * change are sent as a document besides its columns: the functions that read members refuse \u0000.
 */
async function changeSome(database: Kysely<Tables>, moves: readonly StateMove[]): Promise<readonly number[]> {
  const columns: object[] = [];
  const documents: object[] = [];
  for (const [at, { key, expected, lifecycle }] of moves.entries()) {
    const { lifecycle: document, ...dated } = lifecycleColumns(lifecycle);
    const { tenantId, toolId, version } = key;
    const named = { tenant_id: keyText(tenantId), tool_id: keyText(toolId), version: keyText(version) };
    columns.push({ at, ...named, expected, ...dated });
    documents.push(document);
  }
  const { rows } = await sql<{ readonly at: number }>`
with ${nextRevision}
update sallyport.tool_versions as kept set revision = next_revision, unrecorded_since = clock_timestamp(), state = given.state,
  deprecated_in_favor_of = given.deprecated_in_favor_of, deprecated_at = given.deprecated_at,
  removable_at = given.removable_at, lifecycle = given.lifecycle
from next_revision, rows from (
  json_array_elements(${JSON.stringify(documents)}::json),
  json_to_recordset(${JSON.stringify(columns)}::json) as (at integer, tenant_id text, tool_id text, version text,
    expected text, state text, deprecated_in_favor_of text, deprecated_at timestamptz, removable_at timestamptz)
) as given (lifecycle)
where kept.tenant_id = given.tenant_id and kept.tool_id = given.tool_id and kept.version = given.version
  and kept.state = given.expected
returning given.at`.execute(database);
  return rows.map(({ at }) => at);
}
