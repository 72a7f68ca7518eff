import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { textOfCall } from './call-key.ts';
import { isFinal } from './lifecycle.ts';
import { type InvocationRecord, nonceOf } from './record.ts';

/**
 * The rows that a batch of records writes, one for each call: its last record. As between batches, no record replaces a
 * final one, or one of a later lease.
 * @throws E3802 when it would, or when two calls of the batch have one id
 */
export function rowsOfBatch(records: readonly InvocationRecord[]): readonly InvocationRecord[] {
  if (records.length <= 1) return records;
  const rows = new Map<string, InvocationRecord>();
  for (const record of records) {
    const key = textOfCall(record);
    const earlier = rows.get(key);
    if (earlier !== undefined && !replaces(record, earlier)) throw rowTaken();
    rows.set(key, record);
  }
  return [...rows.values()];
}

const replaces = (record: InvocationRecord, earlier: InvocationRecord): boolean =>
  !isFinal(earlier.state) && nonceOf(earlier) === nonceOf(record) && (earlier.fence ?? 0) <= (record.fence ?? 0);

/** E3802: a row is not replaced, because it is another call's, is final, or was written under a later lease. */
export const rowTaken = (): ToolLayerError =>
  new ToolLayerError(
    'E3802',
    'The row under the id of this call is another call’s, or says how the call ended. Nothing was written. Make a new id for each call.',
  );
