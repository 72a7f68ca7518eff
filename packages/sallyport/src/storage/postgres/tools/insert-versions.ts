import { type Kysely, sql } from 'kysely';
import type { ToolVersion } from '../../../domain/tool/tool-version.ts';
import type { ToolStore } from '../../../registry/tool-store.port.ts';
import { keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';
import { lifecycleColumns } from './lifecycle-columns.ts';
import { nextRevision } from './next-revision.ts';

/** Versions written by one statement. */
export const VERSIONS_PER_STATEMENT = 200;

type Outcome = Awaited<ReturnType<ToolStore['insert']>>;

/** Adds versions, at most {@link VERSIONS_PER_STATEMENT} with one statement; the caller opens the transaction. */
export async function insertVersions(
  database: Kysely<Tables>,
  versions: readonly ToolVersion[],
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let at = 0; at < versions.length; at += VERSIONS_PER_STATEMENT) {
    outcomes.push(...(await insertSome(database, versions.slice(at, at + VERSIONS_PER_STATEMENT))));
  }
  return outcomes;
}

/** Of equal keys the first is written; an existing version is compared by its stored hash. */
async function insertSome(database: Kysely<Tables>, versions: readonly ToolVersion[]): Promise<readonly Outcome[]> {
  const firsts = new Map<string, ToolVersion>();
  for (const version of versions) if (!firsts.has(keyOf(version))) firsts.set(keyOf(version), version);
  // In order of key, so that two writers of the same tools never deadlock.
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

/** One version as columns, named after the record type in the statements. */
function columnsOf(version: ToolVersion) {
  const { tenantId, manifest, contentHash, registeredAt, registeredBy } = version;
  return {
    tenant_id: keyText(tenantId),
    tool_id: keyText(manifest.tool_id),
    version: keyText(manifest.version),
    content_hash: keyText(contentHash),
    registered_at: registeredAt,
    registered_by: registeredBy === undefined ? null : keyText(registeredBy),
    last_used_at: version.lastUsedAt ?? null,
    ...lifecycleColumns(version),
  };
}

/** Names and types of the columns of an insertion. */
const GIVEN = sql.raw(`tenant_id text, tool_id text, version text, content_hash text, registered_at timestamptz,
  registered_by text, last_used_at timestamptz, state text, deprecated_in_favor_of text, deprecated_at timestamptz,
  removable_at timestamptz, lifecycle json`);

const WRITTEN = sql.raw(`tenant_id, tool_id, version, content_hash, registered_at, registered_by, last_used_at, state,
  deprecated_in_favor_of, deprecated_at, removable_at, lifecycle`);

/**
 * Manifests are sent besides their columns: a function that reads members of a document refuses one that contains
 * \u0000.
 */
async function insertNew(database: Kysely<Tables>, manifests: string, keys: string): Promise<readonly KeyRow[]> {
  const { rows } = await sql<KeyRow>`
with ${nextRevision}, given as (
  select * from rows from (
    json_array_elements(${manifests}::json),
    json_to_recordset(${keys}::json) as (${GIVEN})
  ) as given (manifest)
), created as (
  insert into sallyport.tool_versions (${WRITTEN}, manifest, revision, unrecorded_since)
  select ${WRITTEN}, manifest, next_revision, clock_timestamp() from given, next_revision
  on conflict do nothing
  returning tenant_id, tool_id, version
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
