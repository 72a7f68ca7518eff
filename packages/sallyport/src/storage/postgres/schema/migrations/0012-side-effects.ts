import { type Kysely, type Migration, sql } from 'kysely';

/** Which calls belong to one turn, which of them left something behind, and what was taken back (VIS-03, VIS-04). */
export const sideEffects: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [CALLS, COMPENSATIONS, KEYS]) await sql.raw(statement).execute(database);
  },
};

/** Pure calls without a turn are in neither index. */
const CALLS = `
alter table sallyport.tool_invocations add column turn_group text;
create index tool_invocations_turn on sallyport.tool_invocations (tenant_id, turn_group, accepted_at)
  where turn_group is not null and side_effect_policy in ('idempotent', 'compensatable', 'irreversible');
create index tool_invocations_effects on sallyport.tool_invocations (tenant_id, accepted_at, invocation_id collate "C")
  where side_effect_policy in ('idempotent', 'compensatable', 'irreversible');`;

/** \`attempt\` and \`state\` are what a change is bound to; the rest is for those who read. */
const COMPENSATIONS = `
create table sallyport.compensations (
  tenant_id text not null,
  invocation_id text not null,
  attempt integer not null,
  state text not null check (state in ('compensating', 'compensated', 'failed', 'unknown')),
  started_at timestamptz not null,
  compensation json not null,
  primary key (tenant_id, invocation_id)
);
create index compensations_open on sallyport.compensations (started_at) where state = 'compensating';`;

/** Null for claims that were made before. */
const KEYS = 'alter table sallyport.idempotency_keys add column instance_id text';
