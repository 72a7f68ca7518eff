// Hot path: one statement for each group of calls.
import type { Durability, LedgerBatch } from '../../../audit/ledger-store.port.ts';
import { textOfCall } from '../../../domain/invocation/call-key.ts';
import { isFinal } from '../../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { EVENT_COLUMNS, placed, RECORD_COLUMNS, valuesOfMany, valuesOfOne } from './append-columns.ts';
import { APPEND_STATEMENTS } from './append-statements.ts';
import type { Value } from './bind-message.ts';
import { type EventRow, packed, rowsOf } from './packed-events.ts';
import type { StatementSender } from './statement-sender.ts';

/** Writes a batch in one transaction and one round trip. */
export async function appendLedger(sender: StatementSender, batch: LedgerBatch, durability: Durability): Promise<void> {
  const { records, events, continues = false } = batch;
  if (records.length === 0 && events.length === 0) return;
  const rows = rowsOf(events);
  const form = records.length !== 1 || rows.length > 1 ? 'many' : rows.length === 0 ? 'alone' : 'one';
  await sender.send(APPEND_STATEMENTS[form][durability], VALUES[form](records, rows, continues), rows[0]?.[0].chainId);
}

/** In the order of the statements' parameters: document and columns of the records, then those of the rows of events. */
const VALUES = { one: oneRow, alone: oneRecord, many: manyRows };

function oneRecord(records: readonly InvocationRecord[]): Value[] {
  return [JSON.stringify(records[0]), ...valuesOfOne(RECORD_COLUMNS, records)];
}

function oneRow(records: readonly InvocationRecord[], rows: readonly EventRow[], continues: boolean): Value[] {
  return [...oneRecord(records), packed(rows).join(), ...valuesOfOne(EVENT_COLUMNS, placed(rows, continues))];
}

function manyRows(records: readonly InvocationRecord[], rows: readonly EventRow[], continues: boolean): Value[] {
  const last = records.length > 1 ? lastOfEach(records) : records;
  return [
    last.map((record) => JSON.stringify(record)),
    ...valuesOfMany(RECORD_COLUMNS, last),
    packed(rows),
    ...valuesOfMany(EVENT_COLUMNS, placed(rows, continues)),
  ];
}

/**
 * A statement writes a row once: of several records of one invocation the first final one stands, else the last. In
 * order of key, so that two writers never wait for one another in a circle.
 */
function lastOfEach(records: readonly InvocationRecord[]): InvocationRecord[] {
  const last = new Map<string, InvocationRecord>();
  for (const record of records) {
    const key = textOfCall(record);
    const earlier = last.get(key);
    if (earlier === undefined || !isFinal(earlier.state)) last.set(key, record);
  }
  return [...last].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, record]) => record);
}
