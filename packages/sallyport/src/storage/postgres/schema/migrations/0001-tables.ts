import { createHash } from 'node:crypto';
import { type Kysely, type Migration, sql } from 'kysely';
import { BRIDGE_TABLES } from './tables/bridges.ts';
import { CALL_TABLES } from './tables/calls.ts';
import { CONTEXT_TABLES } from './tables/contexts.ts';
import { DOCUMENT_TABLES } from './tables/documents.ts';
import { PEOPLE_TABLES } from './tables/people.ts';
import { RECORD_TABLES } from './tables/record.ts';
import { TOOL_TABLES } from './tables/tools.ts';

const STATEMENTS: readonly string[] = [
  ...TOOL_TABLES,
  ...CALL_TABLES,
  ...RECORD_TABLES,
  ...PEOPLE_TABLES,
  ...BRIDGE_TABLES,
  ...CONTEXT_TABLES,
  ...DOCUMENT_TABLES,
];

/** Until the first release the tables may change; a database with other ones is recognised by the name of its migration. */
export const FIRST_TABLES = `0001-tables-${createHash('sha256').update(STATEMENTS.join('\n')).digest('hex').slice(0, 12)}`;

/** All tables of the first release (000 §5.1, tenant-scoped). */
export const firstTables: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statements of STATEMENTS) await sql.raw(statements).execute(database);
  },
};
