// Hot path: every call ends here.
import type { CloudEvent } from '../../api/schemas/cloud-event.ts';
import { ToolLayerError } from '../domain/error/tool-layer-error.ts';
import type { EventDraft } from '../domain/event/event-draft.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import type { Log } from '../telemetry/log.ts';
import { type ChainHead, EMPTY_CHAIN, headOf, link } from './chain.ts';
import type { Durability, LedgerStore } from './ledger-store.port.ts';

/** What one writer has to say: a row, where there is one, and the events about it. */
export interface LedgerEntry {
  readonly record?: InvocationRecord;
  readonly events: readonly EventDraft[];
  readonly durability: Durability;
}

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
export interface LedgerOptions {
  readonly store: LedgerStore;
  readonly chainId: string;
  readonly log: Log;
  /** Entries in one transaction at most; default 64. */
  readonly batchMax?: number;
  /** Entries that may wait; default 10 000. */
  readonly queueMax?: number;
  /** Told after each commit, never awaited. */
  readonly onCommitted?: (events: readonly CloudEvent[], head: ChainHead) => void;
}

interface Waiting {
  readonly entry: LedgerEntry;
  resolve(): void;
  reject(error: unknown): void;
}

/** Opens the chain of this instance where it ended. */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { store, chainId, log, batchMax = 64, queueMax = 10_000, onCommitted } = options;
  let head = (await store.chainHead(chainId)) ?? EMPTY_CHAIN;
  let queue: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let closed = false;

  /** Links and writes the entries in one transaction; the head moves only when they are in. */
  const write = async (entries: readonly LedgerEntry[]): Promise<void> => {
    let next = head;
    const events: CloudEvent[] = [];
    for (const entry of entries) {
      for (const draft of entry.events) {
        const event = link(draft, chainId, next);
        events.push(event);
        next = headOf(event);
      }
    }
    const records = entries.flatMap(({ record }) => (record === undefined ? [] : [record]));
    const durability = entries.some((entry) => entry.durability === 'synchronous') ? 'synchronous' : 'asynchronous';
    await store.append({ records, events }, durability);
    head = next;
    onCommitted?.(events, head);
  };

  /** After a failed write nobody knows whether it came through: the store's head says. */
  const recover = async (cause: unknown): Promise<void> => {
    log.error('ledger-write-failed', { reason: String(cause) });
    head = (await store.chainHead(chainId)) ?? EMPTY_CHAIN;
  };

  /** One bad entry must not take the others with it, so after a failure each is written alone. */
  const writeOneByOne = async (batch: readonly Waiting[]): Promise<void> => {
    for (const waiting of batch) {
      try {
        await write([waiting.entry]);
        waiting.resolve();
      } catch (cause) {
        waiting.reject(refusal(cause));
        await recover(cause);
      }
    }
  };

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.slice(0, batchMax);
      queue = queue.slice(batchMax);
      try {
        await write(batch.map(({ entry }) => entry));
        for (const waiting of batch) waiting.resolve();
      } catch (cause) {
        await failBatch(batch, cause);
      }
    }
    writing = undefined;
  };

  const failBatch = async (batch: readonly Waiting[], cause: unknown): Promise<void> => {
    try {
      await recover(cause);
      if (batch.length > 1) return await writeOneByOne(batch);
    } catch (lost) {
      log.error('ledger-store-unreachable', { reason: String(lost) });
    }
    for (const waiting of batch) waiting.reject(refusal(cause));
  };

  return {
    commit(entry) {
      if (closed) return Promise.reject(refusal(new Error('the ledger is closed')));
      if (queue.length >= queueMax) {
        return Promise.reject(
          new ToolLayerError('E3803', 'Too many calls wait to be recorded. Try again in a second.', {
            retryAfterMs: 1000,
          }),
        );
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.push({ entry, resolve, reject });
      writing ??= drain();
      return promise;
    },
    head: () => head,
    async close() {
      closed = true;
      await writing;
    },
  };
}

function refusal(cause: unknown): ToolLayerError {
  if (cause instanceof ToolLayerError) return cause;
  return new ToolLayerError('E3812', 'The record cannot be written. Ask the operator to check the database.', {
    cause,
  });
}
