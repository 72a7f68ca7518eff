import type { Durability } from '../../../audit/ledger-store.port.ts';
import { POSITION_LOCK } from './horizon.ts';

/** A statement that is prepared once on each connection. */
export interface AppendStatement {
  readonly name: string;
  readonly text: string;
}

/** The forms of an append: of one record with one row of events, and of any number. */
type AppendForm = 'one' | 'many';

/**
 * Positions are taken only after the lock of `floor`, which is how readers know of them (horizon.ts). A transaction whose
 * commit does not wait for the disk says so in its own statement, without another round trip.
 */
const floorOf = (durability: Durability): string => `floor as materialized (
  select pg_advisory_xact_lock_shared(${POSITION_LOCK} + case when is_called then last_value else 0 end)
    ${durability === 'asynchronous' ? ", set_config('synchronous_commit', 'off', true)" : ''}
  from sallyport.audit_events_position_seq
)`;

const RECORD_COLUMNS = `tenant_id, invocation_id, tool_id, tool_version, agent_did, session_id,
    side_effect_policy, state, error_code, instance_id, is_final, accepted_at, duration_ms, record,
    waits_for, fence, turn_group`;

/** A row that is final stays, and one that was written or fenced under a later lease. */
const REPLACE_OPEN = `
  on conflict (tenant_id, invocation_id) do update set
    tool_id = excluded.tool_id, tool_version = excluded.tool_version, agent_did = excluded.agent_did,
    session_id = excluded.session_id, side_effect_policy = excluded.side_effect_policy, state = excluded.state,
    error_code = excluded.error_code, instance_id = excluded.instance_id, is_final = excluded.is_final,
    accepted_at = excluded.accepted_at, duration_ms = excluded.duration_ms, record = excluded.record,
    waits_for = excluded.waits_for, fence = excluded.fence, turn_group = excluded.turn_group
  where not held.is_final and held.fence <= excluded.fence`;

const EVENT_COLUMNS =
  'chain_id, first_seq, last_seq, tenant_id, types, invocation_id, tool_id, agent_did, time, events';

/**
 * The place of a row with which a run of places begins, or null, which the table refuses: the newest row up to the end of
 * the run must end before it, and not before `atLeast`. Two writers at the same time that go on behind one head meet in
 * the unique key. The newest row is looked for once: `between` around the query would run it twice. Places begin at 1.
 */
const freePlace = (chainId: string, firstSeq: string, runLastSeq: string, atLeast: string): string => `nullif(coalesce((
      select case when held.last_seq between ${atLeast} and ${firstSeq} - 1 then ${firstSeq} else 0 end
      from sallyport.audit_events as held
      where held.chain_id = ${chainId} and held.first_seq <= ${runLastSeq} order by held.first_seq desc limit 1
    ), case when ${atLeast} <= 0 then ${firstSeq} else 0 end), 0)`;

/** What a lonely call needs, without the functions that take a document apart: half the time of the other form. */
const one = (durability: Durability): string => `
with ${floorOf(durability)}, records as (
  insert into sallyport.tool_invocations as held (${RECORD_COLUMNS})
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, to_timestamp($12::double precision / 1000), $13, $14,
    $26, $27::bigint, $28)
  ${REPLACE_OPEN}
)
insert into sallyport.audit_events (${EVENT_COLUMNS})
select $15, ${freePlace('$15', '$16::bigint', '$17::bigint', '$25::bigint')}, $17::bigint, $18, $19, $20, $21, $22, $23::timestamptz,
  $24::json
from floor`;

/**
 * Documents travel as one JSON array and their columns as another beside it, because the functions that read a member of
 * a document refuse one that holds \u0000.
 */
const many = (durability: Durability): string => `
with ${floorOf(durability)}, records as (
  insert into sallyport.tool_invocations as held (${RECORD_COLUMNS})
  select tenant_id, invocation_id, tool_id, tool_version, agent_did, session_id,
    side_effect_policy, state, error_code, instance_id, is_final, to_timestamp(accepted_ms / 1000), duration_ms, record,
    waits_for, fence, turn_group
  from floor, rows from (
    json_array_elements($1::json),
    json_to_recordset($2::json) as (tenant_id text, invocation_id text, tool_id text, tool_version text, agent_did text,
      session_id text, side_effect_policy text, state text, error_code text, instance_id text, is_final boolean,
      accepted_ms double precision, duration_ms double precision, waits_for text, fence bigint, turn_group text)
  ) as given (record)
  ${REPLACE_OPEN}
)
insert into sallyport.audit_events (${EVENT_COLUMNS})
select chain_id, case when run_last_seq is null then first_seq
    else ${freePlace('given.chain_id', 'given.first_seq', 'given.run_last_seq', 'given.at_least')} end,
  last_seq, tenant_id, types, invocation_id, tool_id, agent_did, time, events
from floor, rows from (
  json_array_elements($3::json),
  json_to_recordset($4::json) as (chain_id text, first_seq bigint, last_seq bigint, run_last_seq bigint, at_least bigint,
    tenant_id text, types text, invocation_id text, tool_id text, agent_did text, time timestamptz)
) as given (events)`;

const named = (form: AppendForm, durability: Durability, text: string): AppendStatement => ({
  name: `sallyport-append-${form}-${durability}`,
  text,
});

/** Each is one statement and so one transaction. */
export const APPEND_STATEMENTS: Readonly<Record<AppendForm, Readonly<Record<Durability, AppendStatement>>>> = {
  one: {
    synchronous: named('one', 'synchronous', one('synchronous')),
    asynchronous: named('one', 'asynchronous', one('asynchronous')),
  },
  many: {
    synchronous: named('many', 'synchronous', many('synchronous')),
    asynchronous: named('many', 'asynchronous', many('asynchronous')),
  },
};
