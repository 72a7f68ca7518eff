import { type Kysely, type Migration, sql } from 'kysely';

/** What deterministic tools gave for which input, as hashes (PIPE-10). */
export const seenOutputs: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [OUTPUTS, BY_TIME]) await sql.raw(statement).execute(database);
  },
};

/** An input has one slot of its tool, which a later input may take: so a tool has as many rows as it has slots. */
const OUTPUTS = `
create table sallyport.seen_outputs (
  tenant_id text collate "C" not null,
  owner_id text collate "C" not null,
  content_hash text collate "C" not null,
  slot smallint not null,
  input_hash text collate "C" not null,
  output_hash text not null,
  invocation_id text not null,
  seen_at timestamptz not null,
  primary key (tenant_id, owner_id, content_hash, slot)
)`;

const BY_TIME = 'create index seen_outputs_time on sallyport.seen_outputs (seen_at)';
