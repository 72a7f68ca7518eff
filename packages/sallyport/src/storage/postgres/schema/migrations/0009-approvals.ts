import { type Kysely, type Migration, sql } from 'kysely';

/** What became of approvals (ORC-03, ORC-05). The questions stand in the rows of their calls. */
export const approvals: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [DECISIONS, NOTICES, RIGHTS]) await sql.raw(statement).execute(database);
  },
};

/** The primary key of a closing is what makes it the only one. */
const DECISIONS = `
create table sallyport.approval_votes (
  tenant_id text not null,
  approval_id text not null,
  approver_hash text not null,
  voted_at timestamptz not null,
  vote json not null,
  primary key (tenant_id, approval_id, approver_hash)
);
create table sallyport.approval_closings (
  tenant_id text not null,
  approval_id text not null,
  closed_at timestamptz not null,
  closing json not null,
  holder text,
  claimed_at timestamptz,
  noted boolean not null default false,
  finished boolean not null default false,
  primary key (tenant_id, approval_id)
);
create index approval_closings_latest on sallyport.approval_closings (tenant_id, closed_at desc);
create index approval_closings_unfinished on sallyport.approval_closings (closed_at) where not finished;`;

const NOTICES = `
create table sallyport.approval_notices (
  tenant_id text not null,
  approval_id text not null,
  level integer not null,
  invocation_id text not null,
  since timestamptz not null default now(),
  claimed_at timestamptz not null,
  told boolean not null default false,
  primary key (tenant_id, approval_id, level)
);
create index approval_notices_age on sallyport.approval_notices (since);`;

/** A revoked rule is kept until it would have expired, so that each instance hears of it. */
const RIGHTS = `
create table sallyport.approval_delegations (
  tenant_id text not null,
  delegation_id text not null,
  made_at timestamptz not null,
  until timestamptz not null,
  ended boolean not null default false,
  delegation json not null,
  primary key (tenant_id, delegation_id)
);
create table sallyport.approval_rules (
  tenant_id text not null,
  rule_id text not null,
  expires_at timestamptz not null,
  revoked boolean not null default false,
  revision bigint not null,
  rule json not null,
  primary key (tenant_id, rule_id)
);
create index approval_rules_changed on sallyport.approval_rules (revision);
create table sallyport.approval_rules_revision (only_row boolean primary key default true check (only_row), revision bigint not null);
insert into sallyport.approval_rules_revision (revision) values (0);
create table sallyport.approval_links (
  link_hash text primary key,
  expires_at timestamptz not null,
  used boolean not null default false,
  link json not null
);`;
