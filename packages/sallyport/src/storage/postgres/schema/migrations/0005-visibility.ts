import { type Kysely, type Migration, sql } from 'kysely';

/** Who may see which tool: availability, activations and views, and a count of their changes. */
export const visibility: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [RULES, REVISION]) await sql.raw(statement).execute(database);
  },
};

const RULES = `
create table sallyport.visibility_rules (
  tenant_id text not null,
  kind text not null check (kind in ('availability', 'activation', 'view')),
  key_hash text not null,
  key text not null,
  rule json not null,
  updated_at timestamptz not null default now(),
  primary key (tenant_id, kind, key_hash)
);`;

/** One row: instances ask it whether they have to read the rules anew. */
const REVISION = `
create table sallyport.visibility_revision (
  only_row boolean primary key default true check (only_row),
  revision bigint not null
);
insert into sallyport.visibility_revision (revision) values (0);`;
