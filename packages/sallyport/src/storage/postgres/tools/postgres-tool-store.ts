import { type Kysely, type Selectable, sql } from 'kysely';
import type { ToolVersion } from '../../../domain/tool/tool-version.ts';
import type { ToolStore } from '../../../registry/tool-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';
import { changeStates, MOVES_PER_STATEMENT } from './change-states.ts';
import { insertVersions, VERSIONS_PER_STATEMENT } from './insert-versions.ts';
import { lifecycleOf } from './lifecycle-columns.ts';
import { markRecorded, unrecordedRows } from './unrecorded.ts';

/** Tool versions in PostgreSQL. */
export function postgresToolStore(database: Kysely<Tables>): ToolStore {
  const insertAll: ToolStore['insertAll'] = (versions) =>
    inDatabase('keep the tool versions', async () => {
      if (versions.length <= VERSIONS_PER_STATEMENT) return insertVersions(database, versions);
      return database.transaction().execute((transaction) => insertVersions(transaction, versions));
    });

  return {
    insertAll,
    async insert(version) {
      const [outcome = 'unchanged'] = await insertAll([version]);
      return outcome;
    },
    changedSince: (revision) => inDatabase('read the tool versions', () => changedSince(database, revision)),
    changeStates: (moves) =>
      inDatabase('change the state of the tool versions', async () => {
        if (moves.length <= MOVES_PER_STATEMENT) return changeStates(database, moves);
        return database.transaction().execute((transaction) => changeStates(transaction, moves));
      }),
    markRecorded: (keys) => inDatabase('note what is on record', () => markRecorded(database, keys)),
    unrecorded: (before) =>
      inDatabase('look for what is not on record', async () => (await unrecordedRows(database, before)).map(versionOf)),
    noteUses: (uses) => inDatabase('note which tool versions are used', () => noteUses(database, uses)),
    lastUses: (tenantId, toolId) =>
      inDatabase('read which tool versions are used', () => lastUses(database, tenantId, toolId)),
  };
}

const changedSince = async (database: Kysely<Tables>, revision: number): ReturnType<ToolStore['changedSince']> => {
  const table = database.selectFrom('sallyport.tool_versions');
  const rows = await table.selectAll().where('revision', '>', String(revision)).execute();
  const newest = rows.reduce((highest, row) => Math.max(highest, Number(row.revision)), revision);
  return { versions: rows.map(versionOf), revision: newest };
};

function versionOf(row: Selectable<Tables['sallyport.tool_versions']>): ToolVersion {
  const { tenant_id, manifest, content_hash: contentHash, registered_at, registered_by, last_used_at } = row;
  return {
    tenantId: keyOfText(tenant_id),
    manifest,
    contentHash,
    ...lifecycleOf(row),
    registeredAt: registered_at.toISOString(),
    ...(registered_by === null ? {} : { registeredBy: keyOfText(registered_by) }),
    ...(last_used_at === null ? {} : { lastUsedAt: last_used_at.toISOString() }),
  };
}

/** Arbitrary, but the same in every version of the layer: two writers of the same notes must not deadlock. */
const USES_LOCK = sql.raw('5317003');

const noteUses = async (database: Kysely<Tables>, uses: Parameters<ToolStore['noteUses']>[0]): Promise<void> => {
  if (uses.length === 0) return;
  const given = uses.map(({ tenantId, toolId, version, lastUsedAt }) => ({
    tenant_id: keyText(tenantId),
    tool_id: keyText(toolId),
    version: keyText(version),
    used_at: lastUsedAt,
  }));
  await sql`
with writer as materialized (select pg_advisory_xact_lock(${USES_LOCK}))
update sallyport.tool_versions as kept set last_used_at = greatest(kept.last_used_at, given.used_at)
from writer, json_to_recordset(${JSON.stringify(given)}::json)
  as given (tenant_id text, tool_id text, version text, used_at timestamptz)
where kept.tenant_id = given.tenant_id and kept.tool_id = given.tool_id and kept.version = given.version`.execute(
    database,
  );
};

const lastUses = async (
  database: Kysely<Tables>,
  tenantId: string,
  toolId: string,
): Promise<ReadonlyMap<string, string>> => {
  const rows = await database
    .selectFrom('sallyport.tool_versions')
    .select(['version', 'last_used_at'])
    .where('tenant_id', '=', keyText(tenantId))
    .where('tool_id', '=', keyText(toolId))
    .execute();
  return new Map(
    rows.flatMap(({ version, last_used_at: at }) => (at === null ? [] : [[keyOfText(version), at.toISOString()]])),
  );
};
