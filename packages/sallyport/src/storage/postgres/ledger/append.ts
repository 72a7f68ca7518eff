// Hot path: one statement for each group of calls.
import type { Durability, LedgerBatch } from '../../../audit/ledger-store.port.ts';
import { textOfCall } from '../../../domain/invocation/call-key.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { rowsOfBatch } from '../../../domain/invocation/rows-of-batch.ts';
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

/**
 * In the order of the statements' parameters: document and columns of the records, then those of the rows of events.
 */
const VALUES = { one: oneRow, alone: oneRecord, many: manyRows };

function oneRecord(records: readonly InvocationRecord[]): Value[] {
  return [JSON.stringify(records[0]), ...valuesOfOne(RECORD_COLUMNS, records)];
}

function oneRow(records: readonly InvocationRecord[], rows: readonly EventRow[], continues: boolean): Value[] {
  return [...oneRecord(records), packed(rows).join(), ...valuesOfOne(EVENT_COLUMNS, placed(rows, continues))];
}

function manyRows(records: readonly InvocationRecord[], rows: readonly EventRow[], continues: boolean): Value[] {
  // A statement writes each row once, in order of key, so that two writers never deadlock.
  const last = rowsOfBatch(records).toSorted((one, other) => (textOfCall(one) < textOfCall(other) ? -1 : 1));
  return [
    last.map((record) => JSON.stringify(record)),
    ...valuesOfMany(RECORD_COLUMNS, last),
    packed(rows),
    ...valuesOfMany(EVENT_COLUMNS, placed(rows, continues)),
  ];
}
