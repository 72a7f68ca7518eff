import { type Kysely, type Migration, sql } from 'kysely';

/** How changes of calls under way are taken back (PIPE-03), and what became of outcomes that were not known (PIPE-13). */
export const undoSteps: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [STEPS, STEPS_BY_INSTANCE, SETTLEMENTS, UNKNOWN])
      await sql.raw(statement).execute(database);
  },
};

/** Rows live as long as their call, mostly. */
const STEPS = `
create table sallyport.undo_steps (
  tenant_id text collate "C" not null,
  invocation_id text collate "C" not null,
  position integer not null,
  instance_id text not null,
  undone boolean not null default false,
  step json not null,
  primary key (tenant_id, invocation_id, position)
) with (fillfactor = 80)`;

const STEPS_BY_INSTANCE =
  'create index undo_steps_instance on sallyport.undo_steps (instance_id, tenant_id, invocation_id)';

const SETTLEMENTS = `
create table sallyport.outcome_settlements (
  tenant_id text not null,
  invocation_id text not null,
  settlement json not null,
  primary key (tenant_id, invocation_id)
)`;

const UNKNOWN = `
create index tool_invocations_unknown on sallyport.tool_invocations (tenant_id, accepted_at, invocation_id collate "C")
  where error_code = 'E3804'`;
