import { type Kysely, type Migration, sql } from 'kysely';

/** How many calls each session made (PRM-07). */
export const quotas: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [SESSIONS, BY_EXPIRY]) await sql.raw(statement).execute(database);
  },
};

/** Room in each page lets a count be written beside the old one, without touching the index of keys. */
const SESSIONS = `
create table sallyport.quota_sessions (
  tenant_id text not null,
  session_hash text not null,
  calls bigint not null,
  expires_at timestamptz not null,
  primary key (tenant_id, session_hash)
) with (fillfactor = 70)`;

const BY_EXPIRY = 'create index quota_sessions_expiry on sallyport.quota_sessions (expires_at)';
