// Hot path: every call's events are linked and written here.
import type { CloudEvent } from '../../api/schemas/cloud-event.ts';
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

/** Links entries behind the head of one chain and writes them; one at a time. */
export interface ChainWriter {
  head(): ChainHead;
  /** One transaction; the head moves only when it is in. As durable as the most demanding entry. */
  write(entries: readonly LedgerEntry[]): Promise<void>;
  /** After a failed write nobody knows whether it came through: the store's own head says. */
  recover(cause: unknown): Promise<void>;
}

/** What a writer writes to, and who is told. */
export interface ChainWriterParts {
  readonly store: LedgerStore;
  readonly chainId: string;
  readonly log: Log;
  /** Told after each commit, never awaited. */
  readonly onCommitted?: (events: readonly CloudEvent[], head: ChainHead) => void;
}

/** Goes on where the chain ended. */
export async function openChainWriter({ store, chainId, log, onCommitted }: ChainWriterParts): Promise<ChainWriter> {
  let head = (await store.chainHead(chainId)) ?? EMPTY_CHAIN;
  return {
    head: () => head,
    async write(entries) {
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
      const isSynchronous = entries.some(({ durability }) => durability === 'synchronous');
      await store.append({ records, events }, isSynchronous ? 'synchronous' : 'asynchronous');
      head = next;
      onCommitted?.(events, head);
    },
    async recover(cause) {
      log.error('ledger-write-failed', { reason: String(cause) });
      head = (await store.chainHead(chainId)) ?? EMPTY_CHAIN;
    },
  };
}
