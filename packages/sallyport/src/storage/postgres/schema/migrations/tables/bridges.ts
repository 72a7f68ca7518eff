/**
 * Work that a call and the calls resuming it do: `holder` is the call that may save, `newest` the sequence of its newest
 * checkpoint (STA-05).
 */
const LINES = `
create table sallyport.checkpoint_lines (
  tenant_id text collate "C" not null,
  line_id text collate "C" not null,
  holder text collate "C" not null,
  newest bigint not null,
  primary key (tenant_id, line_id)
);
create index checkpoint_lines_holder on sallyport.checkpoint_lines (tenant_id, holder);`;

/** States of tools (000 §5.1.4, with tenant and line). A null `state` has expired. */
const CHECKPOINTS = `
create table sallyport.checkpoints (
  tenant_id text collate "C" not null,
  checkpoint_id text collate "C" not null,
  line_id text collate "C" not null,
  sequence bigint not null,
  invocation_id text collate "C" not null,
  checkpoint_type text not null check (checkpoint_type in ('micro', 'macro', 'named')),
  parent_id text collate "C",
  form text not null check (form in ('plain', 'zstd', 'delta')),
  state bytea,
  facts json not null,
  saved_at timestamptz not null,
  expires_at timestamptz,
  primary key (tenant_id, checkpoint_id),
  unique (tenant_id, line_id, sequence)
);
alter table sallyport.checkpoints alter column state set storage external;
create index checkpoints_invocation on sallyport.checkpoints (tenant_id, invocation_id);
create index checkpoints_parent on sallyport.checkpoints (tenant_id, parent_id) where parent_id is not null;
create index checkpoints_expiry on sallyport.checkpoints (expires_at) where expires_at is not null;`;

/**
 * Contexts of tasks: `owner` is the agent, with the user if it acts for one, and `newest` the version of the newest
 * context. A checkpoint has a copy of its context, so that old versions can be dropped (STA-04).
 */
const CONTEXTS = `
create table sallyport.context_tasks (
  tenant_id text collate "C" not null,
  owner text collate "C" not null,
  task_id text collate "C" not null,
  newest bigint not null,
  saved_at timestamptz not null,
  primary key (tenant_id, owner, task_id)
);
create index context_tasks_saved on sallyport.context_tasks (saved_at);
create table sallyport.context_versions (
  tenant_id text collate "C" not null,
  owner text collate "C" not null,
  task_id text collate "C" not null,
  version bigint not null,
  facts json not null,
  context json not null,
  primary key (tenant_id, owner, task_id, version),
  foreign key (tenant_id, owner, task_id) references sallyport.context_tasks on delete cascade
);
create table sallyport.context_checkpoints (
  tenant_id text collate "C" not null,
  owner text collate "C" not null,
  task_id text collate "C" not null,
  checkpoint_id text collate "C" not null,
  sequence bigint generated always as identity,
  is_named boolean not null,
  facts json not null,
  context json not null,
  primary key (tenant_id, owner, task_id, checkpoint_id),
  foreign key (tenant_id, owner, task_id) references sallyport.context_tasks on delete cascade
);`;

/**
 * Documents of the reference document server, with what finds their newest version: words, a sample of shingles, and the
 * hashes of passages, whose vectors are in embedding_vectors.
 */
const DOCUMENTS = `
create table sallyport.documents (
  tenant_id text collate "C" not null,
  document_id text collate "C" not null,
  title text not null,
  tags text[] not null,
  authority smallint not null,
  source text,
  deprecation json,
  newest integer not null,
  words tsvector not null,
  shingle_step integer not null,
  shingles integer[] not null,
  passages text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, document_id)
);
create index documents_words on sallyport.documents using gin (words);
create index documents_shingles on sallyport.documents using gin (shingles);`;

/** Contents of documents. A row never changes. */
const DOCUMENT_VERSIONS = `
create table sallyport.document_versions (
  tenant_id text collate "C" not null,
  document_id text collate "C" not null,
  version integer not null,
  content_type text not null,
  content_sha256 text not null,
  content_bytes integer not null,
  content text not null,
  stored_at timestamptz not null,
  stored_by json not null,
  primary key (tenant_id, document_id, version)
);`;

/** What the bridges carry from one run of a tool to the next. */
export const BRIDGE_TABLES: readonly string[] = [LINES, CHECKPOINTS, CONTEXTS, DOCUMENTS, DOCUMENT_VERSIONS];
