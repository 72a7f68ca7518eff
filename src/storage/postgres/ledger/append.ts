// Hot path: one statement for each group of calls.
import type { Durability, LedgerBatch } from '../../../audit/ledger-store.port.ts';
import type { ChainedEvent } from '../../../domain/event/chained-event.ts';
import { isFinal } from '../../../domain/invocation/lifecycle.ts';
import { type InvocationRecord, waitsFor } from '../../../domain/invocation/record.ts';
import { keyText } from '../key-text.ts';
import { APPEND_STATEMENTS } from './append-statements.ts';
import type { Value } from './execute.ts';
import { type EventRow, follows, pack, rowsOf } from './packed-events.ts';
import type { StatementSender } from './statement-sender.ts';

/** Characters of a column that is only looked up by; an index entry holds 2 704 bytes. */
const LOOKUP_CHARACTERS_MAX = 255;

/** Writes a batch in one transaction and one round trip. */
export async function appendLedger(sender: StatementSender, batch: LedgerBatch, durability: Durability): Promise<void> {
  const { records, events, continues = false } = batch;
  if (records.length === 0 && events.length === 0) return;
  const rows = rowsOf(events);
  const [record] = records;
  const [row] = rows;
  if (record !== undefined && row !== undefined && records.length === 1 && rows.length === 1) {
    await sender.send(APPEND_STATEMENTS.one[durability], oneRow(record, row, continues), row[0].chainId);
  } else {
    await sender.send(APPEND_STATEMENTS.many[durability], manyRows(records, rows, continues), row?.[0].chainId);
  }
}

/** In the order of the statement's columns. */
function oneRow(record: InvocationRecord, row: EventRow, continues: boolean): Value[] {
  const [first] = row;
  return [
    keyText(record.tenantId),
    keyText(record.invocationId),
    keyText(record.toolId),
    lookupText(record.toolVersion) ?? null,
    keyText(record.agentDid),
    lookupText(record.sessionId) ?? null,
    record.sideEffect ?? null,
    record.state,
    record.failure?.code ?? null,
    keyText(record.instanceId),
    isFinal(record.state) ? 't' : 'f',
    String(record.acceptedAt),
    record.metadata === undefined ? null : String(record.metadata.duration_ms),
    JSON.stringify(record),
    keyText(first.chainId),
    String(first.seq),
    String(lastSeq(row)),
    keyText(first.tenantId),
    typesOf(row),
    lookupText(first.data.invocationId) ?? null,
    lookupText(first.data.toolId) ?? null,
    lookupText(first.data.agentDid) ?? null,
    first.time,
    pack(row),
    String(atLeast(row, continues)),
    waitsFor(record) ?? null,
    String(record.fence ?? 0),
    lookupText(record.turnGroupId) ?? null,
  ];
}

/** Documents and columns of the records, then those of the rows of events. */
function manyRows(records: readonly InvocationRecord[], rows: readonly EventRow[], continues: boolean): Value[] {
  const last = records.length > 1 ? lastOfEach(records) : records;
  const ends = runEnds(rows);
  return [
    JSON.stringify(last),
    JSON.stringify(last.map(recordColumns)),
    `[${rows.map(pack).join(',')}]`,
    JSON.stringify(rows.map((row, at) => eventColumns(row, ends[at], continues))),
  ];
}

/**
 * A statement writes a row once: of several records of one invocation the first final one stands, else the last. In
 * order of key, so that two writers never wait for one another in a circle.
 */
function lastOfEach(records: readonly InvocationRecord[]): InvocationRecord[] {
  const last = new Map<string, InvocationRecord>();
  for (const record of records) {
    const key = `${record.tenantId.length} ${record.tenantId}${record.invocationId}`;
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
    waits_for: waitsFor(record),
    fence: record.fence ?? 0,
    turn_group: lookupText(record.turnGroupId),
  };
}

function eventColumns(row: EventRow, runLastSeq: number | undefined, continues: boolean) {
  const [first] = row;
  const { data } = first;
  return {
    chain_id: keyText(first.chainId),
    first_seq: first.seq,
    last_seq: lastSeq(row),
    run_last_seq: runLastSeq,
    at_least: runLastSeq === undefined ? undefined : atLeast(row, continues),
    tenant_id: keyText(first.tenantId),
    types: typesOf(row),
    invocation_id: lookupText(data.invocationId),
    tool_id: lookupText(data.toolId),
    agent_did: lookupText(data.agentDid),
    time: first.time,
  };
}

/** For each row with which a run of places begins, the last place of the run. */
function runEnds(rows: readonly EventRow[]): readonly (number | undefined)[] {
  const ends: (number | undefined)[] = [];
  let start = 0;
  let last: ChainedEvent | undefined;
  for (const [at, row] of rows.entries()) {
    if (last !== undefined && !follows(row[0], last)) start = at;
    ends[start] = lastSeq(row);
    last = row.at(-1);
  }
  return ends;
}

const lastSeq = (row: EventRow): number => row[0].seq + row.length - 1;

/** Where the chain must have come to already. */
const atLeast = ([first]: EventRow, continues: boolean): number => (continues ? first.seq - 1 : 0);

function typesOf(row: EventRow): string {
  let types = row[0].type;
  for (let at = 1; at < row.length; at += 1) types += ` ${row[at]?.type}`;
  return types;
}

/** Text of a column that rows are looked up by; absent when there is none. */
export function lookupText(value: string | undefined): string | undefined {
  return value === undefined ? undefined : keyText(value).slice(0, LOOKUP_CHARACTERS_MAX);
}
