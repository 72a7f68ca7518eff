import { type Kysely, type Migration, sql } from 'kysely';

/** Since when a version was changed without its event being on record. A crash may come between the two. */
export const unrecordedVersions: Migration = {
  async up(database: Kysely<unknown>) {
    await sql.raw(COLUMN).execute(database);
  },
};

/** Null for what is on record, as everything is that was there before. */
const COLUMN = `
alter table sallyport.tool_versions add column unrecorded_since timestamptz;
create index tool_versions_unrecorded on sallyport.tool_versions (unrecorded_since) where unrecorded_since is not null;`;
