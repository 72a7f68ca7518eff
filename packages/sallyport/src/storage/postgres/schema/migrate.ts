import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { type Kysely, Migrator, sql } from 'kysely';
import { MIGRATIONS } from './migrations/all.ts';
import { SCHEMA, type Tables } from './tables.ts';

/**
 * Brings the schema up to date. Instances that start together wait for the first of them.
 * @throws E3812 when a newer version of the layer wrote the database; what the database throws otherwise
 */
export async function migrate(database: Kysely<Tables>): Promise<void> {
  const applied = await appliedMigrations(database);
  const unknown = applied.filter((name) => !Object.hasOwn(MIGRATIONS, name));
  if (unknown.length > 0) {
    const message = `The database was written by a newer version of the layer (${unknown.join(', ')}). Run that version.`;
    throw new ToolLayerError('E3812', message);
  }
  // The common case, without the migrator's look at the whole catalogue.
  if (applied.length === Object.keys(MIGRATIONS).length) return;
  const provider = { getMigrations: async () => ({ ...MIGRATIONS }) };
  const migrator = new Migrator({ db: database, provider, migrationTableSchema: SCHEMA });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

async function appliedMigrations(database: Kysely<Tables>): Promise<readonly string[]> {
  const table = `${SCHEMA}.kysely_migration`;
  const found = await sql<{ known: boolean }>`select to_regclass(${table}) is not null as known`.execute(database);
  if (found.rows[0]?.known !== true) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(database);
  return rows.map(({ name }) => name);
}
