import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import { MIGRATIONS } from './migrations/all.ts';
import { SCHEMA, type Tables } from './tables.ts';

/** Start of the name of every database's first migration. */
const FIRST = '0001-';

/**
 * Migrates the schema. Instances that start together wait for the first of them.
 * @throws E3812 when the database was written by a newer version of the layer, or made before its first release; other
 *   errors of the database
 */
export async function migrate(
  database: Kysely<Tables>,
  migrations: Readonly<Record<string, Migration>> = MIGRATIONS,
): Promise<void> {
  const applied = await appliedMigrations(database);
  const unknown = applied.filter((name) => !Object.hasOwn(migrations, name));
  if (unknown.some((name) => name.startsWith(FIRST))) throw new ToolLayerError('E3812', MADE_BEFORE_RELEASE);
  if (unknown.length > 0) {
    const message = `The database was written by a newer version of the layer (${unknown.join(', ')}). Run that version.`;
    throw new ToolLayerError('E3812', message);
  }
  // The common case, without the migrator's query over the whole catalogue.
  if (applied.length === Object.keys(migrations).length) return;
  const provider = { getMigrations: async () => ({ ...migrations }) };
  const migrator = new Migrator({ db: database, provider, migrationTableSchema: SCHEMA });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

const MADE_BEFORE_RELEASE =
  'The database was made before the first release of the layer, and there is no way from its tables to these. Start with an empty one: another data folder, or "drop schema sallyport cascade", which deletes what the layer keeps there.';

async function appliedMigrations(database: Kysely<Tables>): Promise<readonly string[]> {
  const table = `${SCHEMA}.kysely_migration`;
  const found = await sql<{ known: boolean }>`select to_regclass(${table}) is not null as known`.execute(database);
  if (found.rows[0]?.known !== true) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(database);
  return rows.map(({ name }) => name);
}
