// Hot path: one statement for each group of calls.
import type { Pool } from 'pg';
import type { CloudEvent } from '../../../../api/schemas/cloud-event.ts';
import type { Durability, LedgerBatch } from '../../../audit/ledger-store.port.ts';
import { isFinal } from '../../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { keyText } from '../key-text.ts';
import { POSITION_LOCK } from './horizon.ts';
import { type EventRow, follows, pack, rowsOf } from './packed-events.ts';

/** Characters of a column that is only looked up by; an index entry holds 2 704 bytes. */
const LOOKUP_CHARACTERS_MAX = 255;

/**
 * One statement and so one transaction. Documents travel as one JSON array and their columns as another beside it,
 * because the functions that read a member of a document refuse one that holds \u0000. Positions are taken only after
 * the lock of `floor`, which is how readers know of them (horizon.ts). Where a run of places begins, the newest row up to
 * its end must end before it; else the first place becomes null, which the table refuses. Two writers at the same time
 * that go on behind one head meet in the unique key.
 */
const APPEND = `
with floor as materialized (
  select pg_advisory_xact_lock_shared(${POSITION_LOCK} + case when is_called then last_value else 0 end)
  from sallyport.audit_events_position_seq
), records as (
  insert into sallyport.tool_invocations as held (tenant_id, invocation_id, tool_id, tool_version, agent_did, session_id,
    side_effect_policy, state, error_code, instance_id, is_final, accepted_at, duration_ms, record)
  select tenant_id, invocation_id, tool_id, tool_version, agent_did, session_id,
    side_effect_policy, state, error_code, instance_id, is_final, to_timestamp(accepted_ms / 1000), duration_ms, record
  from rows from (
    json_array_elements($1::json),
    json_to_recordset($2::json) as (tenant_id text, invocation_id text, tool_id text, tool_version text, agent_did text,
      session_id text, side_effect_policy text, state text, error_code text, instance_id text, is_final boolean,
      accepted_ms double precision, duration_ms double precision)
  ) as given (record)
  on conflict (tenant_id, invocation_id) do update set
    tool_id = excluded.tool_id, tool_version = excluded.tool_version, agent_did = excluded.agent_did,
    session_id = excluded.session_id, side_effect_policy = excluded.side_effect_policy, state = excluded.state,
    error_code = excluded.error_code, instance_id = excluded.instance_id, is_final = excluded.is_final,
    accepted_at = excluded.accepted_at, duration_ms = excluded.duration_ms, record = excluded.record
  where not held.is_final
), events as (
  insert into sallyport.audit_events
    (chain_id, first_seq, last_seq, tenant_id, types, invocation_id, tool_id, agent_did, time, events)
  select chain_id, case when run_last_seq is null or first_seq > coalesce((
      select last_seq from sallyport.audit_events as held
      where held.chain_id = given.chain_id and held.first_seq <= given.run_last_seq order by held.first_seq desc limit 1
    ), 0) then first_seq end, last_seq, tenant_id, types, invocation_id, tool_id, agent_did, time, events
  from floor, rows from (
    json_array_elements($3::json),
    json_to_recordset($4::json) as (chain_id text, first_seq bigint, last_seq bigint, run_last_seq bigint,
      tenant_id text, types text, invocation_id text, tool_id text, agent_did text, time timestamptz)
  ) as given (events)
)`;

/** A transaction whose commit does not wait for the disk says so in its own statement, without another round trip. */
const STATEMENTS: Readonly<Record<Durability, { readonly name: string; readonly text: string }>> = {
  synchronous: { name: 'sallyport-append', text: `${APPEND} select 1` },
  asynchronous: {
    name: 'sallyport-append-asynchronous',
    text: `${APPEND} select set_config('synchronous_commit', 'off', true)`,
  },
};

/** Writes a batch in one transaction and one round trip. */
export async function appendLedger(pool: Pool, batch: LedgerBatch, durability: Durability): Promise<void> {
  if (batch.records.length === 0 && batch.events.length === 0) return;
  const records = batch.records.length > 1 ? lastOfEach(batch.records) : batch.records;
  const rows = rowsOf(batch.events);
  const ends = runEnds(rows);
  const values = [
    jsonArray(records),
    JSON.stringify(records.map(recordColumns)),
    jsonArray(rows.map(pack)),
    JSON.stringify(rows.map((row, at) => eventColumns(row, ends[at]))),
  ];
  await pool.query({ ...STATEMENTS[durability], values });
}

const jsonArray = (documents: readonly unknown[]): string => JSON.stringify(documents);

/**
 * A statement writes a row once: of several records of one invocation the first final one stands, else the last. In
 * order of key, so that two writers never wait for one another in a circle.
 */
function lastOfEach(records: readonly InvocationRecord[]): InvocationRecord[] {
  const last = new Map<string, InvocationRecord>();
  for (const record of records) {
    const key = JSON.stringify([record.tenantId, record.invocationId]);
    const earlier = last.get(key);
    if (earlier === undefined || !isFinal(earlier.state)) last.set(key, record);
  }
  return [...last].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, record]) => record);
}

function recordColumns(record: InvocationRecord) {
  return {
    tenant_id: keyText(record.tenantId),
    invocation_id: keyText(record.invocationId),
    tool_id: keyText(record.toolId),
    tool_version: lookupText(record.toolVersion),
    agent_did: keyText(record.agentDid),
    session_id: lookupText(record.sessionId),
    side_effect_policy: record.sideEffect,
    state: record.state,
    error_code: record.failure?.code,
    instance_id: keyText(record.instanceId),
    is_final: isFinal(record.state),
    accepted_ms: record.acceptedAt,
    duration_ms: record.metadata?.duration_ms,
  };
}

function eventColumns(row: EventRow, runLastSeq: number | undefined) {
  const [first] = row;
  const { data } = first;
  return {
    chain_id: keyText(first.chainid),
    first_seq: first.chainseq,
    last_seq: lastSeq(row),
    run_last_seq: runLastSeq,
    tenant_id: keyText(first.tenantid),
    types: row.map(({ type }) => type).join(' '),
    invocation_id: lookupText(data['invocation_id']),
    tool_id: lookupText(data['tool_id']),
    agent_did: lookupText(data['agent_did']),
    time: first.time,
  };
}

/** For each row with which a run of places begins, the last place of the run. */
function runEnds(rows: readonly EventRow[]): readonly (number | undefined)[] {
  const ends: (number | undefined)[] = [];
  let start = 0;
  let last: CloudEvent | undefined;
  for (const [at, row] of rows.entries()) {
    if (last !== undefined && !follows(row[0], last)) start = at;
    ends[start] = lastSeq(row);
    last = row.at(-1);
  }
  return ends;
}

const lastSeq = (row: EventRow): number => row[0].chainseq + row.length - 1;

/** Text of a column that rows are looked up by; absent when the value is not text. */
export function lookupText(value: unknown): string | undefined {
  return typeof value === 'string' ? keyText(value).slice(0, LOOKUP_CHARACTERS_MAX) : undefined;
}
