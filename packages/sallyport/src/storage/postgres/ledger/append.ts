// Hot path: one statement for each group of calls.
import type { Durability, LedgerBatch } from '../../../audit/ledger-store.port.ts';
import { textOfCall } from '../../../domain/invocation/call-key.ts';
import { rowsOfBatch } from '../../../domain/invocation/rows-of-batch.ts';
import { EVENT_COLUMNS, placed, RECORD_COLUMNS, valuesOf } from './append-columns.ts';
import { APPEND_STATEMENTS } from './append-statements.ts';
import type { Value } from './bind-message.ts';
import { packed, rowsOf } from './packed-events.ts';
import type { StatementSender } from './statement-sender.ts';

/** Writes a batch in one transaction and one round trip. */
export async function appendLedger(sender: StatementSender, batch: LedgerBatch, durability: Durability): Promise<void> {
  const { records, events, continues = false } = batch;
  if (records.length === 0 && events.length === 0) return;
  const rows = rowsOf(events);
  // A statement writes a row once, and in order of key: two writers never wait for one another in a circle.
  const last = rowsOfBatch(records).toSorted((one, other) => (textOfCall(one) < textOfCall(other) ? -1 : 1));
  const values: Value[] = [
    last.map((record) => JSON.stringify(record)),
    ...valuesOf(RECORD_COLUMNS, last),
    packed(rows),
    ...valuesOf(EVENT_COLUMNS, placed(rows, continues)),
  ];
  await sender.send(APPEND_STATEMENTS[durability], values, rows[0]?.[0].chainId);
}
