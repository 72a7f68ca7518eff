// Hot path: every call ends here.
import { ToolLayerError } from '../domain/error/tool-layer-error.ts';
import type { Log } from '../telemetry/log.ts';
import type { ChainHead } from './chain.ts';
import { type ChainWriter, type ChainWriterParts, type LedgerEntry, openChainWriter } from './chain-writer.ts';

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
}

interface Waiting {
  readonly entry: LedgerEntry;
  resolve(): void;
  reject(error: unknown): void;
}

/** Opens the chain of this instance where it ended. */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { log, batchMax = 16, queueMax = 10_000 } = options;
  const writer = await openChainWriter(options);
  const queue: Waiting[] = [];
  let draining: Promise<void> | undefined;
  let closed = false;

  const drain = async (): Promise<void> => {
    while (queue.length > 0) await writeBatch(writer, queue.splice(0, batchMax), log);
    draining = undefined;
  };

  return {
    commit(entry) {
      if (closed) return Promise.reject(refusal(new Error('the ledger is closed')));
      if (queue.length >= queueMax) return Promise.reject(full());
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.push({ entry, resolve, reject });
      draining ??= drain();
      return promise;
    },
    head: () => writer.head(),
    async close() {
      closed = true;
      await draining;
    },
  };
}

async function writeBatch(writer: ChainWriter, batch: readonly Waiting[], log: Log): Promise<void> {
  try {
    await writer.write(batch.map(({ entry }) => entry));
    for (const waiting of batch) waiting.resolve();
  } catch (cause) {
    await failBatch(writer, batch, cause, log);
  }
}

/** One bad entry must not take the others with it, so after a failure each is written alone. */
async function failBatch(writer: ChainWriter, batch: readonly Waiting[], cause: unknown, log: Log): Promise<void> {
  try {
    await writer.recover(cause);
    if (batch.length > 1) {
      for (const waiting of batch) await writeAlone(writer, waiting);
      return;
    }
  } catch (lost) {
    log.error('ledger-store-unreachable', { reason: String(lost) });
  }
  // Those that were written meanwhile are resolved already.
  for (const waiting of batch) waiting.reject(refusal(cause));
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
