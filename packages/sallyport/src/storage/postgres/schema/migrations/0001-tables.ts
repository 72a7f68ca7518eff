import { type Kysely, type Migration, sql } from 'kysely';
import { BRIDGE_TABLES } from './tables/bridges.ts';
import { CALL_TABLES } from './tables/calls.ts';
import { DOCUMENT_TABLES } from './tables/documents.ts';
import { PEOPLE_TABLES } from './tables/people.ts';
import { RECORD_TABLES } from './tables/record.ts';
import { TOOL_TABLES } from './tables/tools.ts';

/** All tables of the first release (000 §5.1, tenant-scoped). */
export const firstTables: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statements of [
      ...TOOL_TABLES,
      ...CALL_TABLES,
      ...RECORD_TABLES,
      ...PEOPLE_TABLES,
      ...BRIDGE_TABLES,
      ...DOCUMENT_TABLES,
    ])
      await sql.raw(statements).execute(database);
  },
};
