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
  changed_at timestamptz not null default now(),
  primary key (tenant_id, line_id)
);
create index checkpoint_lines_holder on sallyport.checkpoint_lines (tenant_id, holder);`;

/**
 * States of tools (000 §5.1.4, with tenant and line). One with neither \`state\` nor object has expired. \`reporter\`: instance that has
 * to report it to the context server yet (STA-04).
 */
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
  reporter text collate "C",
  primary key (tenant_id, checkpoint_id),
  unique (tenant_id, line_id, sequence)
);
alter table sallyport.checkpoints alter column state set storage external;
create index checkpoints_invocation on sallyport.checkpoints (tenant_id, invocation_id);
create index checkpoints_parent on sallyport.checkpoints (tenant_id, parent_id) where parent_id is not null;
create index checkpoints_expiry on sallyport.checkpoints (expires_at) where expires_at is not null;
create index checkpoints_unreported on sallyport.checkpoints (reporter) where reporter is not null;
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

/**
 * Threads of agents with what they take; states of their graphs, the values of their channels by version, and what tasks wrote on
 * top of them, which go with their thread (STA-07). \`owner\`: agent and user as JSON.
 */
const THREADS = `
create table sallyport.threads (
  tenant_id text collate "C" not null,
  owner text collate "C" not null,
  thread_id text collate "C" not null,
  bytes bigint not null,
  changed_at timestamptz not null default now(),
  primary key (tenant_id, owner, thread_id)
);
create index threads_changed on sallyport.threads (changed_at);
create table sallyport.thread_states (
  tenant_id text collate "C" not null,
  owner text collate "C" not null,
  thread_id text collate "C" not null,
  namespace text collate "C" not null,
  checkpoint_id text collate "C" not null,
  parent_id text collate "C",
  state_type text not null,
  state bytea not null,
  metadata_type text not null,
  metadata bytea not null,
  versions json not null,
  primary key (tenant_id, owner, thread_id, namespace, checkpoint_id),
  foreign key (tenant_id, owner, thread_id) references sallyport.threads on delete cascade
);
create index thread_states_newest on sallyport.thread_states (tenant_id, owner, checkpoint_id desc, thread_id, namespace);
create table sallyport.thread_values (
  tenant_id text collate "C" not null,
  owner text collate "C" not null,
  thread_id text collate "C" not null,
  namespace text collate "C" not null,
  channel text collate "C" not null,
  version text collate "C" not null,
  value_type text not null,
  form text not null check (form in ('plain', 'zstd')),
  value bytea,
  size bigint not null,
  sha256 text not null,
  object_name text collate "C",
  object_size bigint,
  object_sha256 text,
  primary key (tenant_id, owner, thread_id, namespace, channel, version),
  foreign key (tenant_id, owner, thread_id) references sallyport.threads on delete cascade
);
alter table sallyport.thread_values alter column value set storage external;
create trigger objects_put after insert on sallyport.thread_values
  for each row when (new.object_name is not null) execute function sallyport.follow_objects();
create trigger objects_deleted after delete on sallyport.thread_values
  for each row when (old.object_name is not null) execute function sallyport.follow_objects();
create table sallyport.thread_writes (
  tenant_id text collate "C" not null,
  owner text collate "C" not null,
  thread_id text collate "C" not null,
  namespace text collate "C" not null,
  checkpoint_id text collate "C" not null,
  task_id text collate "C" not null,
  index integer not null,
  task_path text not null,
  channel text not null,
  value_type text not null,
  value bytea not null,
  primary key (tenant_id, owner, thread_id, namespace, checkpoint_id, task_id, index),
  foreign key (tenant_id, owner, thread_id) references sallyport.threads on delete cascade
);`;

/** Work that one of all instances does once a day: who has the lease, and for which time it was done (STA-06). */
const DAILY_WORK = `
create table sallyport.daily_work (
  work text primary key,
  holder text not null,
  until timestamptz not null,
  done_for timestamptz not null
);`;

/** Versions of documents that the runs of a call have (DOC-04). */
const DOCUMENT_PINS = `
create table sallyport.document_pins (
  tenant_id text collate "C" not null,
  invocation_id text collate "C" not null,
  pins json not null,
  put_at timestamptz not null default now(),
  primary key (tenant_id, invocation_id)
);
create index document_pins_put on sallyport.document_pins (put_at);`;

/** What the bridges carry from one run of a tool to the next. */
export const BRIDGE_TABLES: readonly string[] = [LINES, CHECKPOINTS, OBJECTS, THREADS, DAILY_WORK, DOCUMENT_PINS];
