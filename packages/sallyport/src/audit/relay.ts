import type { EventSink } from './event-sink.port.ts';
import { type RelayLoop, type RelayLoopOptions, startRelayLoop } from './relay/relay-loop.ts';

/** Carries committed events to the sinks beside the database, at least once and in order (AUD-02). */
export type Relay = RelayLoop;

/** What a relay reads and feeds. */
export interface RelayOptions extends RelayLoopOptions {
  readonly sinks: readonly EventSink[];
}

/** Starts one loop for each sink, from where it left off. */
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
