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

/** Tables of the reference context server. */
export const CONTEXT_TABLES: readonly string[] = [CONTEXTS];
