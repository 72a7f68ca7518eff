import { type Kysely, type Migration, sql } from 'kysely';

/** Tables of the registry, the record, the audit chain, idempotency keys and upstreams (000 §5.1, tenant-scoped). */
export const firstTables: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [REGISTRY, INVOCATIONS, EVENTS, APPEND_ONLY, KEYS_AND_UPSTREAMS]) {
      await sql.raw(statement).execute(database);
    }
  },
};

/** A definition is what its newest registration says, for search; the manifest of each version is kept whole. */
const REGISTRY = `
create table sallyport.tool_definitions (
  tenant_id text not null,
  tool_id text not null,
  tool_name text not null,
  description text not null,
  category text,
  tags jsonb not null,
  executor text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, tool_id)
);
create table sallyport.tool_versions (
  tenant_id text not null,
  tool_id text not null,
  version text not null,
  content_hash text not null,
  state text not null check (state in ('active', 'deprecated', 'sunset', 'removed')),
  deprecated_in_favor_of text,
  registered_at timestamptz not null,
  manifest json not null,
  primary key (tenant_id, tool_id, version),
  foreign key (tenant_id, tool_id) references sallyport.tool_definitions
);`;

/** \`record\` is the whole row as the layer knows it; the other columns repeat what is looked up or counted. */
const INVOCATIONS = `
create table sallyport.tool_invocations (
  tenant_id text not null,
  invocation_id text not null,
  tool_id text not null,
  tool_version text,
  agent_did text not null,
  session_id text,
  side_effect_policy text,
  state text not null,
  error_code text,
  instance_id text not null,
  is_final boolean not null,
  accepted_at timestamptz not null,
  duration_ms double precision,
  record json not null,
  primary key (tenant_id, invocation_id)
) with (fillfactor = 80);
create index tool_invocations_open on sallyport.tool_invocations (instance_id, accepted_at) where not is_final;`;

/**
 * A row holds consecutive events of a chain about the same thing, as ledger/packed-events.ts packs them. It is short
 * enough that compressing it costs more than it saves.
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

/** A key may be longer than an index entry, so its SHA-256 stands for it. */
const KEYS_AND_UPSTREAMS = `
create table sallyport.idempotency_keys (
  tenant_id text not null,
  key_hash text not null,
  request_hash text not null,
  invocation_id text not null,
  expires_at timestamptz not null,
  primary key (tenant_id, key_hash)
);
create index idempotency_keys_expiry on sallyport.idempotency_keys (expires_at);
create table sallyport.upstreams (
  tenant_id text not null,
  name text not null,
  definition json not null,
  updated_at timestamptz not null default now(),
  primary key (tenant_id, name)
);`;
