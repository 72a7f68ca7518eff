// Hot path: every call ends here.
import { createRedactor, type Redactor } from '@sallyport/guards';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ChainHead } from './chain.ts';
import { createEntryRedaction } from './redaction.ts';
import { type Batch, failBatches, lookAfter, refusal, startBatch, type Waiting } from './writing/batch.ts';
import { type ChainWriterParts, openChainWriter } from './writing/chain-writer.ts';
import type { LedgerEntry } from './writing/ledger-entry.ts';

/** The one writer of an instance's hash chain. */
export interface Ledger {
  /**
   * Resolves when the entry is committed, in one transaction with its events. Entries of concurrent callers share a
   * commit; they are chained in the order of their calls. A caller that does not know whether an entry is written
   * commits the same one again: its events keep their ids, so it is written once.
   * @throws E3803 when more than `queueMax` entries wait, E3812 when the store does not take the entry; with the detail
   *   `maybe_written` when only its answer may be lost
   */
  commit(entry: LedgerEntry): Promise<void>;
  /** Newest link written by this instance. */
  head(): ChainHead;
  /** Waits for the queued entries. Later commits are refused. */
  close(): Promise<void>;
}

/** Dependencies and limits of a ledger. */
export interface LedgerOptions extends ChainWriterParts {
  /** Entries in one transaction at most; default 16. */
  readonly batchMax?: number;
  /** Entries that may wait; default 10 000. */
  readonly queueMax?: number;
  /** Removes personal data and secrets from entries; default: all kinds but paths (AUD-04). */
  readonly redactor?: Redactor;
}

/** Batches under way at once: the second is prepared while the database writes the first. */
const FLYING_MAX = 2;

/** Opens the chain of this instance at its end. */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { log, batchMax = 16, queueMax = 10_000 } = options;
  const writer = await openChainWriter(options);
  const redacted = createEntryRedaction(options.redactor ?? createRedactor());
  const queue: Waiting[] = [];
  /** Oldest first. */
  const flying: Batch[] = [];
  let draining: Promise<void> | undefined;
  /** While a failure is being examined, no new batch is sent. */
  let failing = false;
  let closed = false;

  const launch = (): void => void flying.push(startBatch(writer, queue.splice(0, batchMax)));

  /** The store was unavailable: before the next write it has to say which of the last writes succeeded. */
  const ask = async (): Promise<void> => {
    try {
      await lookAfter(writer, queue, 'the store was away');
    } catch (cause) {
      for (const waiting of queue.splice(0)) waiting.reject(refusal(cause, writer.isInDoubt(waiting.entry)));
    }
  };

  const drain = async (): Promise<void> => {
    while (queue.length > 0 || flying.length > 0) {
      if (flying.length === 0 && !writer.isSure()) await ask();
      else if (flying.length === 0) launch();
      const failure = await flying[0]?.failure;
      if (failure === undefined) for (const waiting of flying.shift()?.entries ?? []) waiting.resolve();
      else {
        failing = true;
        await failBatches(writer, flying, queue, failure, log);
        flying.length = 0;
        failing = false;
      }
    }
    draining = undefined;
  };

  return {
    commit(entry) {
      if (closed) return Promise.reject(refusal(new Error('the ledger is closed')));
      if (queue.length >= queueMax) return Promise.reject(full());
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      try {
        queue.push({ entry: redacted(entry), resolve, reject });
      } catch (cause) {
        return Promise.reject(refusal(cause));
      }
      // Only a full batch is sent while another is under way: a smaller one would grow in the meantime.
      if (draining === undefined) draining = drain();
      else if (queue.length >= batchMax && flying.length < FLYING_MAX && !failing && writer.isSure()) launch();
      return promise;
    },
    head: () => writer.head(),
    async close() {
      closed = true;
      await draining;
    },
  };
}

const full = (): ToolLayerError =>
  new ToolLayerError('E3803', 'Too many calls wait to be recorded. Try again in a second.', { retryAfterMs: 1000 });
