import type { EventSink } from './event-sink.port.ts';
import { type RelayLoop, type RelayLoopOptions, startRelayLoop } from './relay/relay-loop.ts';

/** Delivers committed events to the sinks besides the database, at least once and in order (AUD-02). */
export type Relay = RelayLoop;

/** Dependencies of the relay. */
export interface RelayOptions extends RelayLoopOptions {
  readonly sinks: readonly EventSink[];
}

/** Starts one loop for each sink, from the sink's stored position. */
export function startRelay(options: RelayOptions): Relay {
  const loops = options.sinks.map((sink) => startRelayLoop(options, sink));
  return {
    offer(events) {
      for (const loop of loops) loop.offer(events);
    },
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}
