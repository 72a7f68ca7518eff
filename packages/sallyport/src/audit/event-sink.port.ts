import type { ChainedEvent } from '../domain/event/chained-event.ts';

/**
 * A destination of events besides the database. Delivery is at least once, in order of the chain; readers drop repeated
 * ids (AUD-02). After a rejection the relay delivers the same events again later.
 */
export interface EventSink {
  readonly name: string;
  /**
   * Accepts events; they need not be durable yet. `eventText` gives the JSON of each. The relay calls it again once it
   * is over.
   */
  deliver(events: readonly ChainedEvent[]): Promise<void>;
  /** Resolves when everything delivered so far is durable in the sink. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
