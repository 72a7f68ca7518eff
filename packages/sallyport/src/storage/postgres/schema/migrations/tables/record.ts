/**
 * A row holds consecutive events of a chain about the same subject, packed by ledger/packed-events.ts. It is so short
 * that compressing it costs more than it saves.
 */
const EVENTS = `
create table sallyport.audit_events (
  position bigserial primary key,
  chain_id text not null,
  first_seq bigint not null,
  last_seq bigint not null,
  tenant_id text not null,
  types text not null,
  invocation_id text,
  tool_id text,
  agent_did text,
  time timestamptz not null,
  events json not null,
  constraint audit_events_chain_place unique (chain_id, first_seq)
) with (toast_tuple_target = 8160);
create index audit_events_tenant on sallyport.audit_events (tenant_id, position);
create index audit_events_invocation on sallyport.audit_events (tenant_id, invocation_id, position);
create table sallyport.audit_checkpoints (
  chain_id text not null,
  seq bigint not null,
  hash text not null,
  time text not null,
  key_id text not null,
  signature text not null,
  primary key (chain_id, seq, hash, key_id)
);
create table sallyport.sink_positions (
  sink text primary key,
  position bigint not null
);`;

const APPEND_ONLY = `
create function sallyport.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append only: % is refused', tg_table_name, tg_op using errcode = 'insufficient_privilege';
end $$;
create trigger append_only before update or delete or truncate on sallyport.audit_events
  for each statement execute function sallyport.refuse_change();
create trigger append_only before update or delete or truncate on sallyport.audit_checkpoints
  for each statement execute function sallyport.refuse_change();`;

/**
 * Events of changes that were committed before their events. The event of a row is on record, if anywhere, after
 * `after_position`.
 */
const UNRECORDED = `
create table sallyport.unrecorded_events (
  event_id text collate "C" primary key,
  tenant_id text not null,
  kept_at timestamptz not null default clock_timestamp(),
  after_position bigint not null default coalesce(pg_sequence_last_value('sallyport.audit_events_position_seq'), 0),
  draft json not null
);`;

/** The audit: chains, their heads, the positions of sinks, and events that are not in a chain yet. */
export const RECORD_TABLES: readonly string[] = [EVENTS, APPEND_ONLY, UNRECORDED];
