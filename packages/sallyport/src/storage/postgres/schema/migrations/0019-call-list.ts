import { type Kysely, type Migration, sql } from 'kysely';

/** All calls of a tenant, the last accepted first, are listed from an index: rows are as many as there were calls. */
export const callList: Migration = {
  async up(database: Kysely<unknown>) {
    await sql.raw(LISTED).execute(database);
  },
};

const LISTED = `
create index tool_invocations_listed on sallyport.tool_invocations (tenant_id, accepted_at, invocation_id collate "C")`;
