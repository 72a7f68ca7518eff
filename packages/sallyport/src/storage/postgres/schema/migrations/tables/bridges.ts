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

/** States of tools (000 §5.1.4, with tenant and line). One with neither \`state\` nor object has expired. */
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
  object_name text collate "C",
  object_size bigint,
  object_sha256 text,
  facts json not null,
  saved_at timestamptz not null,
  expires_at timestamptz,
  archive_at timestamptz,
  archived_at timestamptz,
  primary key (tenant_id, checkpoint_id),
  unique (tenant_id, line_id, sequence)
);
alter table sallyport.checkpoints alter column state set storage external;
create index checkpoints_invocation on sallyport.checkpoints (tenant_id, invocation_id);
create index checkpoints_parent on sallyport.checkpoints (tenant_id, parent_id) where parent_id is not null;
create index checkpoints_expiry on sallyport.checkpoints (expires_at) where expires_at is not null;
create index checkpoints_archive on sallyport.checkpoints (archive_at) where archive_at is not null;`;

/**
 * Objects in the object store. One with \`remove_after\` belongs to no checkpoint, and is removed then: a new one when it was not
 * taken in time, another one at once (STA-03). The trigger holds that for every statement that changes or deletes a checkpoint.
 */
const OBJECTS = `
create table sallyport.state_objects (
  tenant_id text collate "C" not null,
  object_name text collate "C" not null,
  remove_after timestamptz,
  primary key (tenant_id, object_name)
);
create index state_objects_unused on sallyport.state_objects (remove_after) where remove_after is not null;
create function sallyport.follow_objects() returns trigger language plpgsql as $$
begin
  if old.object_name is not null and old.object_name is distinct from new.object_name then
    update sallyport.state_objects set remove_after = now()
    where tenant_id = old.tenant_id and object_name = old.object_name;
  end if;
  if new.object_name is not null and new.object_name is distinct from old.object_name then
    update sallyport.state_objects set remove_after = null
    where tenant_id = new.tenant_id and object_name = new.object_name and remove_after > now();
    if not found then
      raise exception 'the object was not announced, or its time is over' using errcode = 'object_not_in_prerequisite_state';
    end if;
  end if;
  return null;
end $$;
create trigger objects_put after insert on sallyport.checkpoints
  for each row when (new.object_name is not null) execute function sallyport.follow_objects();
create trigger objects_moved after update of object_name on sallyport.checkpoints
  for each row when (old.object_name is distinct from new.object_name) execute function sallyport.follow_objects();
create trigger objects_deleted after delete on sallyport.checkpoints
  for each row when (old.object_name is not null) execute function sallyport.follow_objects();`;

/** Work that one of all instances does once a day: who has the lease, and for which time it was done (STA-06). */
const DAILY_WORK = `
create table sallyport.daily_work (
  work text primary key,
  holder text not null,
  until timestamptz not null,
  done_for timestamptz not null
);`;

/** Versions of documents that the runs of a call have (DOC-04); kept as long as the row of the call. */
const DOCUMENT_PINS = `
create table sallyport.document_pins (
  tenant_id text collate "C" not null,
  invocation_id text collate "C" not null,
  pins json not null,
  primary key (tenant_id, invocation_id)
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
export const BRIDGE_TABLES: readonly string[] = [
  ...[LINES, CHECKPOINTS, OBJECTS, DAILY_WORK],
  ...[DOCUMENT_PINS, DOCUMENTS, DOCUMENT_VERSIONS],
];
