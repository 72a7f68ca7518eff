import { type Kysely, type Migration, sql } from 'kysely';

/** Which results are still kept (PIPE-07). The rows and the events about them stay. */
export const keptResults: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [CALLS, SETTLEMENTS]) await sql.raw(statement).execute(database);
  },
};

/** A column with a constant as its default rewrites no row. The index holds what is still to be looked at. */
const CALLS = `
alter table sallyport.tool_invocations add column result_forgotten boolean not null default false;
create index tool_invocations_results on sallyport.tool_invocations (accepted_at)
  where state = 'COMPLETED' and not result_forgotten;`;

/** Settlements that were made before count from now. */
const SETTLEMENTS = `
alter table sallyport.outcome_settlements
  add column settled_at timestamptz not null default now(),
  add column result_forgotten boolean not null default false;
create index outcome_settlements_results on sallyport.outcome_settlements (settled_at) where not result_forgotten;`;
