import { type Kysely, type Migration, sql } from 'kysely';

/**
 * What every call pays for its row. A row of a few KB is not compressed, as events are not; and no check is read, planned
 * and run with each row: only the layer writes the column, from three values that its types allow.
 */
export const cheaperRows: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [NOT_COMPRESSED, NOT_CHECKED]) await sql.raw(statement).execute(database);
  },
};

const NOT_COMPRESSED = 'alter table sallyport.tool_invocations set (toast_tuple_target = 8160)';

const NOT_CHECKED = 'alter table sallyport.tool_invocations drop constraint tool_invocations_waits_for_check';
