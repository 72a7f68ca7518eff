import type { ChainedEvent } from '../domain/event/chained-event.ts';

/**
 * Where events go beside the database. Delivery is at least once, in order of the chain; readers drop repeated ids
 * (AUD-02). A rejection makes the relay deliver the same events again later.
 */
export interface EventSink {
  readonly name: string;
  /** Takes events over; they need not be durable yet. `eventText` gives the JSON of each. */
  deliver(events: readonly ChainedEvent[]): Promise<void>;
  /** Resolves when everything delivered so far is durable there. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
