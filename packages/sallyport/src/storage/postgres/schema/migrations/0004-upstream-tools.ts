import { type Kysely, type Migration, sql } from 'kysely';

/** Which tools of upstreams were accepted, and what waits for that (REG-09). */
export const upstreamTools: Migration = {
  async up(database: Kysely<unknown>) {
    await sql.raw(UPSTREAM_TOOLS).execute(database);
  },
};

/** An id belongs to one tool of one upstream; \`served\` is the definition that nobody has accepted. */
const UPSTREAM_TOOLS = `
create table sallyport.upstream_tools (
  tenant_id text not null,
  tool_id text not null,
  upstream text not null,
  tool text not null,
  accepted_hash text,
  version text,
  rejected_hash text,
  block text check (block in ('changed', 'flagged', 'new', 'rejected', 'absent')),
  served json,
  noticed_at timestamptz not null,
  primary key (tenant_id, tool_id)
);
create index upstream_tools_upstream on sallyport.upstream_tools (tenant_id, upstream);`;
