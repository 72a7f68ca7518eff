/**
 * `record` is the whole row as the layer knows it; the other columns repeat members for look-ups and counts. `fence` is
 * the number of the newest lease under which the row was written, or that bars writers of earlier ones. `nonce`:
 * adr/0013.
 */
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
  waits_for text check (waits_for in ('worker', 'approval')),
  fence bigint not null default 0,
  turn_group text,
  result_forgotten boolean not null default false,
  nonce text,
  deferred boolean not null default false,
  primary key (tenant_id, invocation_id)
) with (fillfactor = 80);
create index tool_invocations_open on sallyport.tool_invocations (instance_id, accepted_at) where not is_final;`;

/**
 * Partial indexes for the queries over calls, each over the few rows that it is about, besides the index of all calls.
 */
const INDEXES = `
create index tool_invocations_waiting on sallyport.tool_invocations
  (waits_for, accepted_at, tenant_id collate "C", invocation_id collate "C") where waits_for is not null;
create index tool_invocations_unknown on sallyport.tool_invocations (tenant_id, accepted_at, invocation_id collate "C")
  where error_code = 'E3804';
create index tool_invocations_turn on sallyport.tool_invocations (tenant_id, turn_group, accepted_at)
  where turn_group is not null and side_effect_policy in ('idempotent', 'compensatable', 'irreversible');
create index tool_invocations_effects on sallyport.tool_invocations (tenant_id, accepted_at, invocation_id collate "C")
  where side_effect_policy in ('idempotent', 'compensatable', 'irreversible');
create index tool_invocations_results on sallyport.tool_invocations (accepted_at)
  where state = 'COMPLETED' and not result_forgotten;
create index tool_invocations_deferred on sallyport.tool_invocations
  (tenant_id, agent_did, accepted_at, invocation_id collate "C") where deferred;
create index tool_invocations_listed on sallyport.tool_invocations (tenant_id, accepted_at, invocation_id collate "C");`;

/** A key may be longer than an index entry, so its SHA-256 is the key of the row. */
const KEYS = `
create table sallyport.idempotency_keys (
  tenant_id text not null,
  key_hash text not null,
  request_hash text not null,
  invocation_id text not null,
  expires_at timestamptz not null,
  instance_id text,
  nonce text not null,
  primary key (tenant_id, key_hash)
);
create index idempotency_keys_expiry on sallyport.idempotency_keys (expires_at);`;

/**
 * Leases have a narrow table of their own, because they are renewed all the time. `owner` is one life of an instance,
 * null where a request waits for the instance without a lease. `begun`: the tool may have been reached under this
 * lease.
 */
const LEASES = `
create table sallyport.call_leases (
  tenant_id text not null,
  invocation_id text not null,
  instance_id text not null,
  owner text,
  fence bigint not null,
  until timestamptz not null,
  begun boolean not null default false,
  preemptions integer not null default 0,
  progress json,
  answers jsonb,
  cancel_reason text,
  extended_ms bigint not null default 0,
  primary key (tenant_id, invocation_id)
) with (fillfactor = 70);
create index call_leases_owner on sallyport.call_leases (owner);
create table sallyport.instances (
  instance_id text primary key,
  owner text not null,
  until timestamptz not null
);`;

/** Undo steps of calls under way (PIPE-03). Most rows live as long as their call. */
const UNDO = `
create table sallyport.undo_steps (
  tenant_id text collate "C" not null,
  invocation_id text collate "C" not null,
  position integer not null,
  instance_id text not null,
  undone boolean not null default false,
  step json not null,
  primary key (tenant_id, invocation_id, position)
) with (fillfactor = 80);
create index undo_steps_instance on sallyport.undo_steps (instance_id, tenant_id, invocation_id);`;

/** Settlements of unknown outcomes (PIPE-13). */
const SETTLEMENTS = `
create table sallyport.outcome_settlements (
  tenant_id text not null,
  invocation_id text not null,
  settlement json not null,
  settled_at timestamptz not null default now(),
  result_forgotten boolean not null default false,
  primary key (tenant_id, invocation_id)
);
create index outcome_settlements_results on sallyport.outcome_settlements (settled_at) where not result_forgotten;`;

/** Changes are conditional on `attempt` and `state`; the other columns are for readers. */
const COMPENSATIONS = `
create table sallyport.compensations (
  tenant_id text not null,
  invocation_id text not null,
  attempt integer not null,
  state text not null check (state in ('compensating', 'compensated', 'failed', 'unknown')),
  started_at timestamptz not null,
  compensation json not null,
  primary key (tenant_id, invocation_id)
);
create index compensations_open on sallyport.compensations (started_at) where state = 'compensating';`;

/**
 * The state that tools keep, and the writes of calls under way (PIPE-03). `value` was left by completed calls, `next`
 * is written by the holder, both as JSON text; null: nothing. A row has at least one of them, or a holder that removes.
 * Numbers of the sequence never repeat, so a value that was removed and written anew has another number than before.
 */
const TOOL_STATE = `
create sequence sallyport.tool_state_revisions;
create table sallyport.tool_state (
  tenant_id text collate "C" not null,
  owner_id text collate "C" not null,
  tool_id text collate "C" not null,
  name text collate "C" not null,
  revision bigint not null default 0,
  value text,
  held_by text collate "C",
  fence bigint,
  next text,
  primary key (tenant_id, owner_id, tool_id, name)
) with (fillfactor = 80);
create index tool_state_held on sallyport.tool_state (tenant_id, held_by) where held_by is not null;`;

/**
 * Outputs of deterministic tools for each input, as hashes (PIPE-10). An input has one slot of its tool, which a later
 * input may take: so a tool has at most as many rows as slots.
 */
const OUTPUTS = `
create table sallyport.seen_outputs (
  tenant_id text collate "C" not null,
  owner_id text collate "C" not null,
  content_hash text collate "C" not null,
  slot smallint not null,
  input_hash text collate "C" not null,
  output_hash text not null,
  invocation_id text not null,
  seen_at timestamptz not null,
  primary key (tenant_id, owner_id, content_hash, slot)
);
create index seen_outputs_time on sallyport.seen_outputs (seen_at);`;

/** Whole texts of shortened results, as JSON (MOD-06). */
const OVERFLOWS = `
create table sallyport.overflows (
  tenant_id text collate "C" not null,
  invocation_id text collate "C" not null,
  agent_did text collate "C" not null,
  user_did text collate "C",
  content text not null,
  kept_at timestamptz not null,
  primary key (tenant_id, invocation_id)
);
create index overflows_owner on sallyport.overflows (tenant_id, agent_did, kept_at);
create index overflows_time on sallyport.overflows (kept_at);`;

/**
 * Number of calls of each session (PRM-07). Room in each page lets a count be updated in place, without touching the
 * index of keys.
 */
const SESSIONS = `
create table sallyport.quota_sessions (
  tenant_id text not null,
  session_hash text not null,
  calls bigint not null,
  expires_at timestamptz not null,
  primary key (tenant_id, session_hash)
) with (fillfactor = 70);
create index quota_sessions_expiry on sallyport.quota_sessions (expires_at);`;

/** Tools that completed in sessions, where others wait for them (MOD-05). */
const SESSION_TOOLS = `
create table sallyport.session_tools (
  tenant_id text collate "C" not null,
  session_hash text collate "C" not null,
  tool_id text collate "C" not null,
  expires_at timestamptz not null,
  primary key (tenant_id, session_hash, tool_id)
);
create index session_tools_expiry on sallyport.session_tools (expires_at);`;

/**
 * What each rate limit has counted (EXT-02); which columns count depends on the algorithm, `domain/rate/rate.ts`. Only
 * the key is indexed, so that a count is updated in place.
 */
const RATES = `
create table sallyport.rate_counts (
  key_hash text primary key,
  per_minute double precision not null,
  at timestamptz not null,
  amount double precision not null,
  seconds bigint[],
  calls bigint[],
  wait_ms double precision not null,
  expires_at timestamptz not null
) with (fillfactor = 50);`;

/**
 * How many slots of an agent each instance holds, and how many calls of the agent wait there (PIPE-08). The function
 * takes the agent's lock before it reads, so that each instance is answered by what the one before left. Its commit does
 * not wait for the disk: after a crash of the server each instance reports again what it uses.
 */
const SLOTS = `
create table sallyport.slot_holders (owner text collate "C" primary key, until timestamptz not null);
create table sallyport.agent_slots (
  agent_hash text collate "C" not null,
  owner text collate "C" not null references sallyport.slot_holders on delete cascade,
  slots integer not null,
  wanted integer not null,
  since timestamptz not null,
  primary key (agent_hash, owner)
) with (fillfactor = 50);
create index agent_slots_owner on sallyport.agent_slots (owner);
create function sallyport.share_agent_slots(
  agent text, me text, most integer, running integer, wants integer, waited_ms double precision
) returns table (held integer, others_wait boolean) language plpgsql as $$
declare
  claim integer;
  free integer;
  holders integer;
  got integer := 0;
begin
  perform set_config('synchronous_commit', 'off', true);
  perform pg_advisory_xact_lock(hashtextextended(agent, 0));
  select count(*) into holders from sallyport.slot_holders where until > clock_timestamp();
  if not exists (select from sallyport.slot_holders where owner = me and until > clock_timestamp()) then return; end if;
  select slots + wanted into claim from sallyport.agent_slots where agent_hash = agent and owner = me;
  select most - running - coalesce(sum(slots), 0), coalesce(bool_or(wanted > 0), false) into free, others_wait
  from sallyport.agent_slots join sallyport.slot_holders using (owner)
  where agent_hash = agent and owner <> me and until > clock_timestamp();
  if wants > 0 and free > 0 then
    select count(*) into got from (
      select waiter
      from (
        select me, wants, clock_timestamp() - make_interval(secs => waited_ms / 1000)
        union all
        select owner, wanted, since from sallyport.agent_slots join sallyport.slot_holders using (owner)
        where agent_hash = agent and owner <> me and until > clock_timestamp()
      ) as waiting (waiter, calls, waits_since), generate_series(1, calls) as turn
      order by turn, waits_since, waiter limit free
    ) as next where waiter = me;
  end if;
  held := running + got;
  wants := wants - got;
  free := free - got;
  if wants = 0 and free > 0 and not others_wait then
    held := greatest(held, least(held + free, most / holders));
  end if;
  if held + wants = 0 then
    delete from sallyport.agent_slots where agent_hash = agent and owner = me;
  else
    insert into sallyport.agent_slots as known (agent_hash, owner, slots, wanted, since)
    values (agent, me, held, wants, clock_timestamp() - make_interval(secs => waited_ms / 1000))
    on conflict (agent_hash, owner) do update set slots = excluded.slots, wanted = excluded.wanted, since = excluded.since;
  end if;
  if (others_wait and free > 0 and held + wants < claim) or (wants > 0 and held + wants > coalesce(claim, 0)) then
    perform pg_notify('agent:slots', agent || ' ' || me);
  end if;
  return next;
end $$;`;

/** Calls, their names, leases and effects. */
export const CALL_TABLES: readonly string[] = [
  INVOCATIONS,
  INDEXES,
  KEYS,
  LEASES,
  UNDO,
  SETTLEMENTS,
  COMPENSATIONS,
  TOOL_STATE,
  OUTPUTS,
  OVERFLOWS,
  SESSIONS,
  SESSION_TOOLS,
  RATES,
  SLOTS,
];
