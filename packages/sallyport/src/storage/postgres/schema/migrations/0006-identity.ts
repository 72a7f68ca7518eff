import { type Kysely, type Migration, sql } from 'kysely';

/** Revoked tokens and API keys, and a count of the changes of each. */
export const identity: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [REVISIONS, REVOCATIONS, API_KEYS]) await sql.raw(statement).execute(database);
  },
};

/** One row for each kind: its lock puts changes of all instances in an order, and instances ask it what is new. */
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
