import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Log } from '../../telemetry/log.ts';
import type { ChainWriter } from './chain-writer.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** An entry, and the promise of its writer. */
export interface Waiting {
  readonly entry: LedgerEntry;
  resolve(): void;
  reject(error: unknown): void;
}

/** Entries that are being written. */
export interface Batch {
  readonly entries: readonly Waiting[];
  /** Why they were not written; undefined when they were. Never rejects. */
  readonly failure: Promise<Cause | undefined>;
}

/** Wrapped, since anything may be thrown, even undefined. */
interface Cause {
  readonly cause: unknown;
}

/** Sends entries; entries that are already stored are not sent again. */
export function startBatch(writer: ChainWriter, given: readonly Waiting[]): Batch {
  const entries = unwritten(writer, given);
  const written = writer.write(entries.map(({ entry }) => entry));
  const failure = written.then(
    () => undefined,
    (cause: unknown) => ({ cause }),
  );
  return { entries, failure };
}

/** Resolves entries that are already stored and returns the rest. */
function unwritten(writer: ChainWriter, entries: readonly Waiting[]): readonly Waiting[] {
  for (const waiting of entries) if (writer.isWritten(waiting.entry)) waiting.resolve();
  return entries.filter(({ entry }) => !writer.isWritten(entry));
}

/**
 * Handles batches that failed. Entries that are stored although their answer was lost are resolved. One bad entry must
 * not fail the others, so each of the rest is written alone. Batches sent after the failed one failed because of it.
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
  // A single entry was tried alone already.
  const again = flying[0]?.entries.length === 1 ? entries.slice(1) : entries;
  const others = causeForOthers(cause);
  try {
    await lookAfter(writer, queue, others);
    for (const waiting of again) await writeAlone(writer, waiting, queue);
  } catch (lost) {
    log.error('ledger-store-unreachable', { reason: String(lost) });
  }
  // Resolves entries that were written meanwhile.
  for (const waiting of unwritten(writer, entries))
    waiting.reject(refusal(again.includes(waiting) ? others : cause, writer.isInDoubt(waiting.entry)));
}

/** The cause for the other entries of a batch: a row that is not replaced concerns only its own entry. */
const causeForOthers = (cause: unknown): unknown =>
  cause instanceof ToolLayerError && cause.code === 'E3802' ? new Error('another entry was refused', { cause }) : cause;

async function writeAlone(writer: ChainWriter, waiting: Waiting, queue: Waiting[]): Promise<void> {
  if (writer.isWritten(waiting.entry) || writer.isOvertaken(waiting.entry)) return;
  try {
    await writer.write([waiting.entry]);
    waiting.resolve();
  } catch (cause) {
    await lookAfter(writer, queue, causeForOthers(cause));
    if (!writer.isWritten(waiting.entry)) waiting.reject(refusal(cause, writer.isInDoubt(waiting.entry)));
  }
}

/**
 * Finds out which of the failed writes succeeded. If a call was ended by one of them, no second end is written after
 * it: its writer did not know of the first, and reads again.
 * @param queue waiting entries; entries that must not be written are removed
 */
export async function lookAfter(writer: ChainWriter, queue: Waiting[], cause: unknown): Promise<void> {
  await writer.recover(cause);
  const isLeft = ({ entry }: Waiting): boolean => writer.isWritten(entry) || !writer.isOvertaken(entry);
  for (const waiting of queue.splice(0)) {
    if (isLeft(waiting)) queue.push(waiting);
    else waiting.reject(refusal(cause));
  }
}

/**
 * The error for the caller of an entry that was not written.
 * @param isInDoubt true when it may be written all the same
 */
export function refusal(cause: unknown, isInDoubt = false): ToolLayerError {
  const isKnown = cause instanceof ToolLayerError;
  if (isKnown && !(isInDoubt && cause.code === 'E3812')) return cause;
  const message = isKnown ? cause.message : 'The record cannot be written. Ask the operator to check the database.';
  return new ToolLayerError('E3812', message, { cause, ...(isInDoubt ? { details: { maybe_written: true } } : {}) });
}
