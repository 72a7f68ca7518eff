import { type Kysely, type Migration, sql } from 'kysely';

/** Tokens and registrations at upstreams, encrypted; a claim lets one instance alone renew a token (EXT-01). */
const STATEMENTS = `
create sequence sallyport.authorization_revisions;
create table sallyport.upstream_authorizations (
  tenant_id text not null,
  upstream text not null,
  part text not null,
  content text not null,
  revision bigint not null,
  claimed_until timestamptz,
  primary key (tenant_id, upstream, part)
);`;

/** The table of authorizations at upstreams. */
export const upstreamAuthorizations: Migration = {
  async up(database: Kysely<unknown>) {
    await sql.raw(STATEMENTS).execute(database);
  },
};
