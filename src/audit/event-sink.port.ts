import type { CloudEvent } from '../../api/schemas/cloud-event.ts';

/** Where events go beside the database. Delivery is at least once, in order of position; readers drop repeated ids (AUD-02). */
export interface EventSink {
  readonly name: string;
  /** Resolves when the events are durable there. A rejection makes the relay try again later. */
  deliver(events: readonly CloudEvent[]): Promise<void>;
  close(): Promise<void>;
}
