// Hot path: every call ends here.
import { createRedactor, type Redactor } from '../detectors/redact.ts';
import { ToolLayerError } from '../domain/error/tool-layer-error.ts';
import type { Log } from '../telemetry/log.ts';
import type { ChainHead } from './chain.ts';
import { type ChainWriter, type ChainWriterParts, type LedgerEntry, openChainWriter } from './chain-writer.ts';
import { createEntryRedaction } from './redaction.ts';

/** The one writer of an instance's hash chain. */
export interface Ledger {
  /**
   * Resolves when the entry is committed, in one transaction with its events. Entries of concurrent callers share a
   * commit; they are chained in the order of their calls.
   * @throws E3803 when more than `queueMax` entries wait, E3812 when the store does not take the entry
   */
  commit(entry: LedgerEntry): Promise<void>;
  /** Newest link written by this instance. */
  head(): ChainHead;
  /** Waits for what is queued. Later commits are refused. */
  close(): Promise<void>;
}

/** Where a ledger writes and how much it holds. */
export interface LedgerOptions extends ChainWriterParts {
  /** Entries in one transaction at most; default 16. */
  readonly batchMax?: number;
  /** Entries that may wait; default 10 000. */
  readonly queueMax?: number;
  /** What takes personal data and secrets out of entries; default: all kinds but paths (AUD-04). */
  readonly redactor?: Redactor;
}

interface Waiting {
  readonly entry: LedgerEntry;
  resolve(): void;
  reject(error: unknown): void;
}

/** Batches on their way at once: the second is made ready while the database writes the first. */
const FLYING_MAX = 2;

/** Opens the chain of this instance where it ended. */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { log, batchMax = 16, queueMax = 10_000 } = options;
  const writer = await openChainWriter(options);
  const redacted = createEntryRedaction(options.redactor ?? createRedactor());
  const queue: Waiting[] = [];
  /** Oldest first. */
  const flying: Batch[] = [];
  let draining: Promise<void> | undefined;
  /** While a failure is looked into, nothing goes ahead. */
  let failing = false;
  let closed = false;

  const launch = (): void => void flying.push(startBatch(writer, queue.splice(0, batchMax)));

  const drain = async (): Promise<void> => {
    while (queue.length > 0 || flying.length > 0) {
      if (flying.length === 0) launch();
      const failure = await flying[0]?.failure;
      if (failure === undefined) for (const waiting of flying.shift()?.entries ?? []) waiting.resolve();
      else {
        failing = true;
        await failBatches(writer, flying, failure, log);
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
      // Only a full batch goes ahead while another is on its way: smaller ones would grow in the meantime.
      if (draining === undefined) draining = drain();
      else if (queue.length >= batchMax && flying.length < FLYING_MAX && !failing) launch();
      return promise;
    },
    head: () => writer.head(),
    async close() {
      closed = true;
      await draining;
    },
  };
}

/** Entries on their way to the store. */
interface Batch {
  readonly entries: readonly Waiting[];
  /** Why they were not written; undefined when they were. Never rejects. */
  readonly failure: Promise<Cause | undefined>;
}

/** Anything may be thrown, nothing too. */
interface Cause {
  readonly cause: unknown;
}

function startBatch(writer: ChainWriter, entries: readonly Waiting[]): Batch {
  const written = writer.write(entries.map(({ entry }) => entry));
  const failure = written.then(
    () => undefined,
    (cause: unknown) => ({ cause }),
  );
  return { entries, failure };
}

/**
 * One bad entry must not take the others with it, so after a failure each is written alone. What went ahead behind the
 * batch that failed, failed because of it.
 */
async function failBatches(writer: ChainWriter, flying: Batch[], { cause }: Cause, log: Log): Promise<void> {
  await Promise.all(flying.map(({ failure }) => failure));
  const [failed, ...behind] = flying;
  const entries = flying.flatMap((batch) => batch.entries);
  try {
    await writer.recover(cause);
    // A lonely entry has been tried alone.
    const alone = failed?.entries.length === 1 ? behind.flatMap((batch) => batch.entries) : entries;
    for (const waiting of alone) await writeAlone(writer, waiting);
  } catch (lost) {
    log.error('ledger-store-unreachable', { reason: String(lost) });
  }
  // Those that were written meanwhile are resolved already.
  for (const waiting of entries) waiting.reject(refusal(cause));
  flying.length = 0;
}

async function writeAlone(writer: ChainWriter, waiting: Waiting): Promise<void> {
  try {
    await writer.write([waiting.entry]);
    waiting.resolve();
  } catch (cause) {
    waiting.reject(refusal(cause));
    await writer.recover(cause);
  }
}

const full = (): ToolLayerError =>
  new ToolLayerError('E3803', 'Too many calls wait to be recorded. Try again in a second.', { retryAfterMs: 1000 });

function refusal(cause: unknown): ToolLayerError {
  if (cause instanceof ToolLayerError) return cause;
  return new ToolLayerError('E3812', 'The record cannot be written. Ask the operator to check the database.', {
    cause,
  });
}
