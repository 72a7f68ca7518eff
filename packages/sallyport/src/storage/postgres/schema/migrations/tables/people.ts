/** One row for each kind: its lock orders the changes of all instances, and instances poll it for changes. */
const REVISIONS = `
create table sallyport.identity_revisions (
  kind text primary key check (kind in ('revocations', 'api-keys')),
  revision bigint not null
);
insert into sallyport.identity_revisions (kind, revision) values ('revocations', 0), ('api-keys', 0);`;

const REVOCATIONS = `
create table sallyport.revocations (
  tenant_id text not null,
  kind text not null check (kind in ('token', 'agent', 'tenant')),
  subject_hash text not null,
  revocation_id text not null,
  subject text not null,
  issued_before double precision,
  expires_at timestamptz,
  revoked_at timestamptz not null,
  revoked_by text not null,
  reason text,
  lifted_at timestamptz,
  revision bigint not null,
  primary key (tenant_id, kind, subject_hash)
);
create unique index revocations_id on sallyport.revocations (tenant_id, revocation_id);
create index revocations_revision on sallyport.revocations (revision);
create index revocations_listed on sallyport.revocations (tenant_id, revoked_at desc) where lifted_at is null;
create index revocations_expiry on sallyport.revocations (expires_at) where expires_at is not null;`;

const API_KEYS = `
create table sallyport.api_keys (
  key_id text primary key,
  tenant_id text not null,
  name text not null,
  key_hash text not null unique,
  prefix text not null,
  claims json not null,
  created_at timestamptz not null,
  created_by text not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  revision bigint not null
);
create index api_keys_tenant on sallyport.api_keys (tenant_id, created_at desc);
create index api_keys_revision on sallyport.api_keys (revision);`;

/** The number of changes to policies so far, which instances poll, and the reason of the last (PRM-05). */
const POLICIES = `
create table sallyport.policy_updates (
  only_row boolean primary key default true check (only_row),
  revision bigint not null,
  reason text not null
);
insert into sallyport.policy_updates (revision, reason) values (0, '');`;

/** Votes on approvals, and their closings: the primary key allows only one closing (ORC-03, ORC-05). */
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
  notified boolean not null default false,
  primary key (tenant_id, approval_id, level)
);
create index approval_notices_age on sallyport.approval_notices (since);`;

/** A revoked rule is kept until it would have expired, so that each instance learns of it. */
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

/** Proofs of possession that were used. Unlogged: a row counts for minutes, and a crash of the server may lose it. */
const PROOFS = `
create unlogged table sallyport.proof_ids (
  proof_hash text collate "C" primary key,
  expires_at timestamptz not null
);
create index proof_ids_age on sallyport.proof_ids (expires_at);`;

/** Credentials, and decisions of people. */
export const PEOPLE_TABLES: readonly string[] = [
  REVISIONS,
  REVOCATIONS,
  API_KEYS,
  PROOFS,
  POLICIES,
  DECISIONS,
  NOTICES,
  RIGHTS,
];
