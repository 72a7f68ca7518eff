import { type ChainedEvent, chainedEventOf } from '../../domain/event/chained-event.ts';
import type { EventSink } from '../event-sink.port.ts';
import type { LedgerStore } from '../ledger-store.port.ts';

/** Events read from the store at once. */
const PAGE_EVENTS = 500;
/** Events kept for a sink that is slow or unavailable; beyond that they are read from the store once it is back. */
const OFFERED_EVENTS_MAX = 10_000;

/** The delivery of one chain to one sink. */
export interface Delivery {
  /** Takes events that follow those offered before. */
  offer(events: readonly ChainedEvent[]): void;
  /** Delivers committed events, from memory where possible. */
  deliver(): Promise<void>;
  /** Makes deliveries durable and stores the position. */
  flush(): Promise<void>;
  isUnflushed(): boolean;
}

/** Creates a delivery; the position is first read from the store. */
export function createDelivery(
  { store, chainId }: { readonly store: LedgerStore; readonly chainId: string },
  sink: EventSink,
): Delivery {
  const cursor = `${sink.name}@${chainId}`;
  let offered: ChainedEvent[] = [];
  /** Position of the last event that the sink took; unknown at first and after a failure. */
  let delivered: number | undefined;
  let remembered = 0;

  const handOver = async (events: readonly ChainedEvent[]): Promise<void> => {
    const last = events.at(-1);
    if (last === undefined) return;
    await sink.deliver(events);
    delivered = last.seq;
  };

  const storedPlace = async (): Promise<number> => {
    remembered = await store.sinkPosition(cursor);
    return remembered;
  };

  const catchUp = async (from: number): Promise<number> => {
    for (delivered = from; ; ) {
      const page = await store.chainEvents(chainId, delivered, PAGE_EVENTS);
      await handOver(page.map(chainedEventOf));
      if (page.length < PAGE_EVENTS) return delivered;
    }
  };

  return {
    offer(events) {
      if (offered.length + events.length <= OFFERED_EVENTS_MAX) offered.push(...events);
      else {
        offered = [];
        delivered = undefined;
      }
    },
    async deliver() {
      try {
        const from = delivered ?? (await catchUp(await storedPlace()));
        const fresh = offered.filter(({ seq }) => seq > from);
        offered = [];
        // A gap means that an event was not offered; the store has it.
        if (fresh[0] === undefined || fresh[0].seq === from + 1) await handOver(fresh);
        else await catchUp(from);
      } catch (cause) {
        delivered = undefined;
        throw cause;
      }
    },
    async flush() {
      if (delivered === undefined || delivered === remembered) return;
      const place = delivered;
      await sink.flush();
      await store.setSinkPosition(cursor, place);
      remembered = place;
    },
    isUnflushed: () => delivered !== remembered,
  };
}
