// Hot path: every call's events are linked and written here.
import type { ChainedEvent } from '../domain/event/chained-event.ts';
import type { EventDraft, WrittenDraft } from '../domain/event/event-draft.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import type { Log } from '../telemetry/log.ts';
import { type ChainHead, EMPTY_CHAIN, link } from './chain.ts';
import type { Durability, LedgerStore } from './ledger-store.port.ts';

/** What one writer has to say: a row, where there is one, and the events about it. */
export interface LedgerEntry {
  readonly record?: InvocationRecord;
  readonly events: readonly (EventDraft | WrittenDraft)[];
  readonly durability: Durability;
}

/** Links entries behind the head of one chain and writes them. */
export interface ChainWriter {
  head(): ChainHead;
  /**
   * One transaction; the head moves only when it is in. As durable as the most demanding entry. The next write may begin
   * before this one is over: it fails when this one does.
   */
  write(entries: readonly LedgerEntry[]): Promise<void>;
  /** After a failed write nobody knows whether it came through: the store's own head says. No write may be under way. */
  recover(cause: unknown): Promise<void>;
}

/** What a writer writes to, and who is told. */
export interface ChainWriterParts {
  readonly store: LedgerStore;
  readonly chainId: string;
  readonly log: Log;
  /** Told after each commit, never awaited. */
  readonly onCommitted?: (events: readonly ChainedEvent[], head: ChainHead) => void;
}

/** Goes on where the chain ended. */
export async function openChainWriter({ store, chainId, log, onCommitted }: ChainWriterParts): Promise<ChainWriter> {
  let head = (await store.chainHead(chainId)) ?? EMPTY_CHAIN;
  /** Newest link that is on its way. */
  let tip = head;
  return {
    head: () => head,
    async write(entries) {
      let next = tip;
      let durability: Durability = 'asynchronous';
      const events: ChainedEvent[] = [];
      const records: InvocationRecord[] = [];
      for (const entry of entries) {
        for (const draft of entry.events) {
          const event = link(draft, chainId, next);
          events.push(event);
          next = event;
        }
        if (entry.record !== undefined) records.push(entry.record);
        if (entry.durability === 'synchronous') durability = 'synchronous';
      }
      tip = { seq: next.seq, hash: next.hash };
      const end = tip;
      await store.append({ records, events, continues: true }, durability);
      head = end;
      onCommitted?.(events, head);
    },
    async recover(cause) {
      log.error('ledger-write-failed', { reason: String(cause) });
      head = (await store.chainHead(chainId)) ?? EMPTY_CHAIN;
      tip = head;
    },
  };
}
