import { type Kysely, type Migration, sql } from 'kysely';

/** Which calls wait for whom, and who runs them. */
export const callLeases: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [WAITING, LEASES]) await sql.raw(statement).execute(database);
  },
};

/** `fence` is the number of the newest lease under which the row was written, or that bars writers of earlier ones. */
const WAITING = `
alter table sallyport.tool_invocations
  add column waits_for text check (waits_for in ('worker', 'approval')),
  add column fence bigint not null default 0;
create index tool_invocations_waiting on sallyport.tool_invocations
  (waits_for, accepted_at, tenant_id collate "C", invocation_id collate "C") where waits_for is not null;`;

/**
 * A lease stands in a narrow table of its own, because it is renewed all the time. \`owner\` is one life of an instance,
 * null where a wish waits for the instance without a lease. \`begun\`: the tool may have been reached under this lease.
 */
const LEASES = `
create table sallyport.call_leases (
  tenant_id text not null,
  invocation_id text not null,
  instance_id text not null,
  owner text,
  fence bigint not null,
  until timestamptz not null,
  begun boolean not null default false,
  preemptions integer not null default 0,
  progress json,
  cancel_reason text,
  extended_ms bigint not null default 0,
  primary key (tenant_id, invocation_id)
) with (fillfactor = 70);
create index call_leases_owner on sallyport.call_leases (owner);
create table sallyport.instances (
  instance_id text primary key,
  owner text not null,
  until timestamptz not null
);`;
