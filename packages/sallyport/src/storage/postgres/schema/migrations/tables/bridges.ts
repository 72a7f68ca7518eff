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

/** States of tools (000 §5.1.4, with tenant and line). A null \`state\` has expired. */
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

/** Versions of documents that the runs of a call have (DOC-04); kept as long as the row of the call. */
const DOCUMENT_PINS = `
create table sallyport.document_pins (
  tenant_id text collate "C" not null,
  invocation_id text collate "C" not null,
  pins json not null,
  primary key (tenant_id, invocation_id)
);`;

/** What the bridges carry from one run of a tool to the next. */
export const BRIDGE_TABLES: readonly string[] = [LINES, CHECKPOINTS, DOCUMENT_PINS];
