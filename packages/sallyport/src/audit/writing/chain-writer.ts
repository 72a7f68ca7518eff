import type { ChainedEvent } from '../../domain/event/chained-event.ts';
import { holdEvents } from '../../domain/event/held-events.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Log } from '../../telemetry/log.ts';
import { type ChainHead, EMPTY_CHAIN, link } from '../chain.ts';
import type { Durability, LedgerStore } from '../ledger-store.port.ts';
import { endedCallOf } from './attempt.ts';
import type { LedgerEntry } from './ledger-entry.ts';
import { createUncertainWrites, type UncertainWrites } from './uncertain-writes.ts';

/** Links entries after the head of one chain and writes them. */
export interface ChainWriter extends Pick<UncertainWrites, 'isWritten' | 'isInDoubt' | 'isOvertaken'> {
  head(): ChainHead;
  /**
   * Writes in one transaction; the head moves only when it is committed. As durable as the most demanding entry. The
   * next write may begin before this one is over: it fails when this one does.
   */
  write(entries: readonly LedgerEntry[]): Promise<void>;
  /** False from a failed write until its outcome is known. Nothing may be written meanwhile. */
  isSure(): boolean;
  /** Reads the stored head after a failed write, which shows whether the write succeeded. No write may be under way. */
  recover(cause: unknown): Promise<void>;
}

/** Dependencies of the writer. */
export interface ChainWriterParts {
  readonly store: LedgerStore;
  readonly chainId: string;
  readonly log: Log;
  /** Called after each commit, never awaited. */
  readonly onCommitted?: (events: readonly ChainedEvent[], head: ChainHead) => void;
}

/** Continues at the end of the chain. */
export async function openChainWriter({ store, chainId, log, onCommitted }: ChainWriterParts): Promise<ChainWriter> {
  const storedHead = async (): Promise<ChainHead> => (await store.chainHead(chainId)) ?? EMPTY_CHAIN;
  let head = await storedHead();
  /** Newest link that is being written. */
  let tip = head;
  let isSure = true;
  const { add: doubt, passed, settle, isWritten, isInDoubt, isLinked, isOvertaken } = createUncertainWrites();
  return {
    head: () => head,
    isSure: () => isSure,
    async write(entries) {
      const start = tip;
      let next = tip;
      let durability: Durability = 'asynchronous';
      const events: ChainedEvent[] = [];
      const records: InvocationRecord[] = [];
      for (const entry of entries) {
        const { record, inRow } = entry;
        if (entry.durability === 'synchronous') durability = 'synchronous';
        if (record !== undefined && inRow === true) {
          records.push({ ...record, heldEvents: holdEvents(entry.events) });
          continue;
        }
        for (const draft of entry.events) {
          // The first events of a call come again with its end, when it was unknown whether they were written.
          if (isLinked(draft.id)) continue;
          const event = link(draft, chainId, next);
          events.push(event);
          next = event;
        }
        if (record !== undefined) records.push(record);
      }
      tip = { seq: next.seq, hash: next.hash };
      const end = tip;
      try {
        await store.append({ records, events, continues: true }, durability);
      } catch (thrown) {
        isSure = false;
        doubt({ start, end, events, endedCalls: endedCallsOf(entries) });
        throw thrown;
      }
      head = end;
      passed(end);
      onCommitted?.(events, head);
    },
    async recover(cause) {
      log.error('ledger-write-failed', { reason: String(cause) });
      head = await storedHead();
      tip = head;
      for (const { events, end } of settle(head)) onCommitted?.(events, end);
      isSure = true;
    },
    isWritten,
    isInDoubt,
    isOvertaken,
  };
}

const endedCallsOf = (entries: readonly LedgerEntry[]): string[] =>
  entries.map(endedCallOf).filter((call) => call !== undefined);
