// Hot path: one statement for each group of calls.
import type { Pool } from 'pg';
import type { CloudEvent } from '../../../../api/schemas/cloud-event.ts';
import type { Durability, LedgerBatch } from '../../../audit/ledger-store.port.ts';
import { isFinal } from '../../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { keyText } from '../key-text.ts';
import { POSITION_LOCK } from './horizon.ts';

/** Characters of a column that is only looked up by; an index entry holds 2 704 bytes. */
const LOOKUP_CHARACTERS_MAX = 255;

/**
 * One statement and so one transaction. Documents travel as one JSON array and their columns as another beside it,
 * because the functions that read a member of a document refuse one that holds \u0000. Positions are taken only after
 * the lock of `floor`, which is how readers know of them (horizon.ts).
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
    (chain_id, chain_seq, tenant_id, type, invocation_id, tool_id, agent_did, time, event)
  select chain_id, chain_seq, tenant_id, type, invocation_id, tool_id, agent_did, time, event
  from floor, rows from (
    json_array_elements($3::json),
    json_to_recordset($4::json) as (chain_id text, chain_seq bigint, tenant_id text, type text, invocation_id text,
      tool_id text, agent_did text, time timestamptz)
  ) as given (event)
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
  const values = [
    jsonArray(records),
    JSON.stringify(records.map(recordColumns)),
    jsonArray(batch.events),
    JSON.stringify(batch.events.map(eventColumns)),
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

function eventColumns(event: CloudEvent) {
  const { data } = event;
  return {
    chain_id: keyText(event.chainid),
    chain_seq: event.chainseq,
    tenant_id: keyText(event.tenantid),
    type: event.type,
    invocation_id: lookupText(data['invocation_id']),
    tool_id: lookupText(data['tool_id']),
    agent_did: lookupText(data['agent_did']),
    time: event.time,
  };
}

/** Text of a column that rows are looked up by; absent when the value is not text. */
export function lookupText(value: unknown): string | undefined {
  return typeof value === 'string' ? keyText(value).slice(0, LOOKUP_CHARACTERS_MAX) : undefined;
}
