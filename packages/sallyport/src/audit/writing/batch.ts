import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Log } from '../../telemetry/log.ts';
import type { ChainWriter } from './chain-writer.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** An entry, and who waits until it is written. */
export interface Waiting {
  readonly entry: LedgerEntry;
  resolve(): void;
  reject(error: unknown): void;
}

/** Entries on their way to the store. */
export interface Batch {
  readonly entries: readonly Waiting[];
  /** Why they were not written; undefined when they were. Never rejects. */
  readonly failure: Promise<Cause | undefined>;
}

/** Anything may be thrown, nothing too. */
interface Cause {
  readonly cause: unknown;
}

/** Sends entries; what is written already is not written again. */
export function startBatch(writer: ChainWriter, given: readonly Waiting[]): Batch {
  const entries = unwritten(writer, given);
  const written = writer.write(entries.map(({ entry }) => entry));
  const failure = written.then(
    () => undefined,
    (cause: unknown) => ({ cause }),
  );
  return { entries, failure };
}

/** Those that are left, when the others have been told that they are written. */
function unwritten(writer: ChainWriter, entries: readonly Waiting[]): readonly Waiting[] {
  if (!entries.some(({ entry }) => writer.isWritten(entry))) return entries;
  for (const waiting of entries) if (writer.isWritten(waiting.entry)) waiting.resolve();
  return entries.filter(({ entry }) => !writer.isWritten(entry));
}

/**
 * What came through though its answer was lost, is written. One bad entry must not take the others with it, so each of
 * those that are left is written alone. What went ahead behind the batch that failed, failed because of it.
 * @param queue entries that come after them
 */
export async function failBatches(
  writer: ChainWriter,
  flying: readonly Batch[],
  queue: Waiting[],
  { cause }: Cause,
  log: Log,
): Promise<void> {
  await Promise.all(flying.map(({ failure }) => failure));
  const entries = flying.flatMap((batch) => batch.entries);
  // A lonely entry has been tried alone.
  const again = flying[0]?.entries.length === 1 ? entries.slice(1) : entries;
  const others = causeForOthers(cause);
  try {
    await lookAfter(writer, queue, others);
    for (const waiting of again) await writeAlone(writer, waiting, queue);
  } catch (lost) {
    log.error('ledger-store-unreachable', { reason: String(lost) });
  }
  // Those that were written meanwhile are resolved already.
  for (const waiting of unwritten(writer, entries)) waiting.reject(refusal(again.includes(waiting) ? others : cause));
}

/** A row that is not replaced is a matter of its own entry: the others of the batch learn that they were not written. */
const causeForOthers = (cause: unknown): unknown =>
  cause instanceof ToolLayerError && cause.code === 'E3802' ? new Error('another entry was refused', { cause }) : cause;

async function writeAlone(writer: ChainWriter, waiting: Waiting, queue: Waiting[]): Promise<void> {
  if (writer.isWritten(waiting.entry) || writer.isOvertaken(waiting.entry)) return;
  try {
    await writer.write([waiting.entry]);
    waiting.resolve();
  } catch (cause) {
    await lookAfter(writer, queue, causeForOthers(cause));
    if (!writer.isWritten(waiting.entry)) waiting.reject(refusal(cause));
  }
}

/**
 * Finds out what of the failed writes came through. Another end of a call that has its end by them is not written behind
 * it: whoever wanted it did not know, and looks again.
 * @param queue entries that wait for their turn; those that must not be written are taken out of it
 */
export async function lookAfter(writer: ChainWriter, queue: Waiting[], cause: unknown): Promise<void> {
  await writer.recover(cause);
  const isLeft = ({ entry }: Waiting): boolean => writer.isWritten(entry) || !writer.isOvertaken(entry);
  if (queue.every(isLeft)) return;
  for (const waiting of queue.splice(0)) {
    if (isLeft(waiting)) queue.push(waiting);
    else waiting.reject(refusal(cause));
  }
}

/** What the caller is told of an entry that was not written. */
export function refusal(cause: unknown): ToolLayerError {
  if (cause instanceof ToolLayerError) return cause;
  return new ToolLayerError('E3812', 'The record cannot be written. Ask the operator to check the database.', {
    cause,
  });
}
