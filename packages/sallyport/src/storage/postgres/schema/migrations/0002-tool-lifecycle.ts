import { type Kysely, type Migration, sql } from 'kysely';

/** How a version stands in its lifecycle, who registered it, when it was last called, and what changed since when. */
export const toolLifecycle: Migration = {
  async up(database: Kysely<unknown>) {
    await sql.raw(COLUMNS).execute(database);
  },
};

/**
 * \`revision\` grows in the order of commits: whoever writes holds the lock of tool-rows.ts, so who read up to one revision
 * has missed none below it. \`lifecycle\` holds text of users whole, which a text column cannot always do.
 */
const COLUMNS = `
create sequence sallyport.tool_revisions;
alter table sallyport.tool_versions
  add column revision bigint not null default nextval('sallyport.tool_revisions'),
  add column registered_by text,
  add column deprecated_at timestamptz,
  add column removable_at timestamptz,
  add column last_used_at timestamptz,
  add column lifecycle json not null default '{}';
alter table sallyport.tool_versions alter column revision drop default;
create index tool_versions_revision on sallyport.tool_versions (revision);`;
