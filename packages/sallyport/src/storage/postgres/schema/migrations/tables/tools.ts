/**
 * `revision` grows in the order of commits: every writer holds the lock of tool-rows.ts, so a reader that has seen one
 * revision has missed no lower one. `lifecycle` holds text of users unchanged, which a text column cannot always do.
 * `unrecorded_since`: time since which a version has been changed without its event on record; a crash may come between
 * the two.
 */
const REGISTRY = `
create table sallyport.tool_versions (
  tenant_id text not null,
  tool_id text not null,
  version text not null,
  content_hash text not null,
  state text not null check (state in ('active', 'deprecated', 'sunset', 'removed')),
  deprecated_in_favor_of text,
  registered_at timestamptz not null,
  manifest json not null,
  revision bigint not null,
  registered_by text,
  deprecated_at timestamptz,
  removable_at timestamptz,
  last_used_at timestamptz,
  lifecycle json not null default '{}',
  unrecorded_since timestamptz,
  primary key (tenant_id, tool_id, version)
);
create sequence sallyport.tool_revisions;
create index tool_versions_revision on sallyport.tool_versions (revision);
create index tool_versions_unrecorded on sallyport.tool_versions (unrecorded_since) where unrecorded_since is not null;`;

/** An id belongs to one tool of one upstream; `served` is a definition that nobody has accepted (REG-09). */
const UPSTREAMS = `
create table sallyport.upstreams (
  tenant_id text not null,
  name text not null,
  definition json not null,
  updated_at timestamptz not null default now(),
  primary key (tenant_id, name)
);
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
  revision uuid not null,
  primary key (tenant_id, tool_id)
);
create index upstream_tools_upstream on sallyport.upstream_tools (tenant_id, upstream);`;

/** Tokens and registrations at upstreams, encrypted; a claim lets one instance alone renew a token (EXT-01). */
const AUTHORIZATIONS = `
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

/**
 * Vectors by model and hash of the embedded text, for all tools. Only a cache (REG-06, REG-07). The numbers of a vector
 * hardly compress; trying costs more than it saves.
 */
const VECTORS = `
create table sallyport.embedding_vectors (
  model text not null,
  content_hash text not null,
  dimensions integer not null,
  vector bytea not null,
  used_on date not null default current_date,
  primary key (model, content_hash)
);
alter table sallyport.embedding_vectors alter column vector set storage external;
create index embedding_vectors_used on sallyport.embedding_vectors (used_on);`;

/** Availability, activations and views. The only row of the revision shows whether they have to be read anew. */
const VISIBILITY = `
create table sallyport.visibility_rules (
  tenant_id text not null,
  kind text not null check (kind in ('availability', 'activation', 'view')),
  key_hash text not null,
  key text not null,
  rule json not null,
  updated_at timestamptz not null default now(),
  primary key (tenant_id, kind, key_hash)
);
create table sallyport.visibility_revision (
  only_row boolean primary key default true check (only_row),
  revision bigint not null
);
insert into sallyport.visibility_revision (revision) values (0);`;

/**
 * The files of imported skills (EXE-08). Always read as a whole, and often compressed already, so not compressed here.
 */
const SKILLS = `
create table sallyport.skill_contents (
  tenant_id text collate "C" not null,
  sha256 bytea not null check (length(sha256) = 32),
  bytes integer not null,
  put_at timestamptz not null default now(),
  content bytea not null,
  primary key (tenant_id, sha256)
);
alter table sallyport.skill_contents alter column content set storage external;`;

/** Tables of tools: registry, upstreams, vectors, visibility, contents of skills. */
export const TOOL_TABLES: readonly string[] = [REGISTRY, UPSTREAMS, AUTHORIZATIONS, VECTORS, VISIBILITY, SKILLS];
