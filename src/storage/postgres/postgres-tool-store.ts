import { type Kysely, type Selectable, sql } from 'kysely';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { ToolStore } from '../../registry/tool-store.port.ts';
import { inDatabase } from './database-error.ts';
import { keyOfText, keyText, shownText } from './key-text.ts';
import type { Tables } from './schema/tables.ts';

/** Versions written by one statement. */
const VERSIONS_PER_STATEMENT = 200;

type VersionRow = Selectable<Tables['sallyport.tool_versions']>;
type Outcome = Awaited<ReturnType<ToolStore['insert']>>;

/** Tool versions in PostgreSQL. */
export function postgresToolStore(database: Kysely<Tables>): ToolStore {
  const insertAll: ToolStore['insertAll'] = (versions) =>
    inDatabase('keep the tool versions', async () => {
      if (versions.length <= VERSIONS_PER_STATEMENT) return insertSome(database, versions);
      return database.transaction().execute((transaction) => insertMany(transaction, versions));
    });

  return {
    insertAll,
    async insert(version) {
      const [outcome = 'unchanged'] = await insertAll([version]);
      return outcome;
    },
    loadAll: () =>
      inDatabase('list the tool versions', async () => {
        const rows = await database.selectFrom('sallyport.tool_versions').selectAll().execute();
        return rows.map(versionOf);
      }),
    setState: (tenantId, toolId, version, state, inFavorOf) =>
      inDatabase('change the state of the tool version', async () => {
        const successor = inFavorOf === undefined ? {} : { deprecated_in_favor_of: keyText(inFavorOf) };
        const { numUpdatedRows } = await database
          .updateTable('sallyport.tool_versions')
          .set({ state, ...successor })
          .where('tenant_id', '=', keyText(tenantId))
          .where('tool_id', '=', keyText(toolId))
          .where('version', '=', keyText(version))
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),
  };
}

function versionOf(row: VersionRow): ToolVersion {
  const { tenant_id, manifest, content_hash: contentHash, state, deprecated_in_favor_of, registered_at } = row;
  return {
    tenantId: keyOfText(tenant_id),
    manifest,
    contentHash,
    state,
    ...(deprecated_in_favor_of === null ? {} : { deprecatedInFavorOf: keyOfText(deprecated_in_favor_of) }),
    registeredAt: registered_at.toISOString(),
  };
}

async function insertMany(database: Kysely<Tables>, versions: readonly ToolVersion[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let at = 0; at < versions.length; at += VERSIONS_PER_STATEMENT) {
    outcomes.push(...(await insertSome(database, versions.slice(at, at + VERSIONS_PER_STATEMENT))));
  }
  return outcomes;
}

/** The first of equal keys is written; what is not new is judged by the hash that stands there. */
async function insertSome(database: Kysely<Tables>, versions: readonly ToolVersion[]): Promise<readonly Outcome[]> {
  const firsts = new Map<string, ToolVersion>();
  for (const version of versions) if (!firsts.has(keyOf(version))) firsts.set(keyOf(version), version);
  // In order of key, so that two writers of the same tools never wait for one another in a circle.
  const sorted = [...firsts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, version]) => version);
  const keys = JSON.stringify(sorted.map(columnsOf));
  const manifests = JSON.stringify(sorted.map(({ manifest }) => manifest));
  const created = new Set((await insertNew(database, manifests, keys)).map(keyOfRow));
  const hashes = new Map(sorted.map((version) => [keyOf(version), version.contentHash]));
  if (created.size < sorted.length) {
    for (const row of await hashesOf(database, keys)) hashes.set(keyOfRow(row), row.content_hash);
  }
  return versions.map((version) => {
    const key = keyOf(version);
    if (created.delete(key)) return 'created';
    return hashes.get(key) === version.contentHash ? 'unchanged' : 'conflict';
  });
}

interface KeyRow {
  readonly tenant_id: string;
  readonly tool_id: string;
  readonly version: string;
}

/** One version as columns. Names are those of the record type in the statements. */
function columnsOf({ tenantId, manifest, contentHash, state, deprecatedInFavorOf, registeredAt }: ToolVersion) {
  return {
    tenant_id: keyText(tenantId),
    tool_id: keyText(manifest.tool_id),
    version: keyText(manifest.version),
    content_hash: keyText(contentHash),
    state,
    deprecated_in_favor_of: deprecatedInFavorOf === undefined ? null : keyText(deprecatedInFavorOf),
    registered_at: registeredAt,
    tool_name: shownText(manifest.tool_name),
    description: shownText(manifest.description),
    category: manifest.category ?? null,
    tags: (manifest.tags ?? []).map(shownText),
    executor: manifest.executor.kind,
  };
}

/** Manifests travel beside their columns: a function that reads members of a document refuses one that holds \u0000. */
async function insertNew(database: Kysely<Tables>, manifests: string, keys: string): Promise<readonly KeyRow[]> {
  const { rows } = await sql<KeyRow>`
with given as (
  select * from rows from (
    json_array_elements(${manifests}::json),
    json_to_recordset(${keys}::json) as (tenant_id text, tool_id text, version text, content_hash text, state text,
      deprecated_in_favor_of text, registered_at timestamptz, tool_name text, description text, category text,
      tags jsonb, executor text)
  ) with ordinality as given (manifest)
), created as (
  insert into sallyport.tool_versions
    (tenant_id, tool_id, version, content_hash, state, deprecated_in_favor_of, registered_at, manifest)
  select tenant_id, tool_id, version, content_hash, state, deprecated_in_favor_of, registered_at, manifest from given
  on conflict do nothing
  returning tenant_id, tool_id, version
), described as (
  insert into sallyport.tool_definitions (tenant_id, tool_id, tool_name, description, category, tags, executor)
  select distinct on (tenant_id, tool_id) tenant_id, tool_id, tool_name, description, category, tags, executor
  from given join created using (tenant_id, tool_id, version)
  order by tenant_id, tool_id, registered_at desc, ordinality desc
  on conflict (tenant_id, tool_id) do update set tool_name = excluded.tool_name, description = excluded.description,
    category = excluded.category, tags = excluded.tags, executor = excluded.executor, updated_at = now()
)
select * from created`.execute(database);
  return rows;
}

/** In a statement of its own, which sees what others committed while the insertion waited for them. */
async function hashesOf(
  database: Kysely<Tables>,
  keys: string,
): Promise<readonly (KeyRow & { readonly content_hash: string })[]> {
  const { rows } = await sql<KeyRow & { content_hash: string }>`
select tenant_id, tool_id, version, content_hash from sallyport.tool_versions
join json_to_recordset(${keys}::json) as given (tenant_id text, tool_id text, version text)
using (tenant_id, tool_id, version)`.execute(database);
  return rows;
}

const keyOf = ({ tenantId, manifest }: ToolVersion): string =>
  JSON.stringify([keyText(tenantId), keyText(manifest.tool_id), keyText(manifest.version)]);

const keyOfRow = ({ tenant_id, tool_id, version }: KeyRow): string => JSON.stringify([tenant_id, tool_id, version]);
