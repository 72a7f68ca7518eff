import { type Kysely, type Migration, sql } from 'kysely';

/** What the files of imported skills hold, so that every instance can run them (EXE-08). */
export const skillContents: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [CONTENTS, UNCOMPRESSED]) await sql.raw(statement).execute(database);
  },
};

const CONTENTS = `
create table sallyport.skill_contents (
  tenant_id text collate "C" not null,
  sha256 bytea not null check (length(sha256) = 32),
  bytes integer not null,
  put_at timestamptz not null default now(),
  content bytea not null,
  primary key (tenant_id, sha256)
)`;

/** Read as a whole, and often compressed already: not worth the time. */
const UNCOMPRESSED = 'alter table sallyport.skill_contents alter column content set storage external';
