import type { ChainedEvent } from '../../domain/event/chained-event.ts';
import type { Log } from '../../telemetry/log.ts';
import type { EventSink } from '../event-sink.port.ts';
import type { LedgerStore } from '../ledger-store.port.ts';
import { createDelivery } from './delivery.ts';

/** Dependencies and intervals of a loop. */
export interface RelayLoopOptions {
  readonly store: LedgerStore;
  /**
   * Each instance relays its own chain: its positions have no gaps, so a reader cannot overtake an open transaction.
   */
  readonly chainId: string;
  readonly log: Log;
  /** How long events are gathered before they are delivered; default 50 ms. */
  readonly delayMs?: number;
  /**
   * How often a sink is flushed and its position stored; default 1 000 ms. A crash repeats the deliveries of this time
   * at most.
   */
  readonly flushMs?: number;
  /** Wait after a sink failed; doubles up to 60 times this; default 1 000 ms. */
  readonly retryMs?: number;
}

/** Carries events to one sink. */
export interface RelayLoop {
  /** Takes events that this instance has just committed, in order. Cheap: they are delivered later, many at once. */
  offer(events: readonly ChainedEvent[]): void;
  /** Delivers committed events as far as the sink takes them, and stops. */
  close(): Promise<void>;
}

/** Starts the loop of one sink: it delivers soon after an event came, and with growing pauses while the sink fails. */
export function startRelayLoop(options: RelayLoopOptions, sink: EventSink): RelayLoop {
  const { log, delayMs = 50, flushMs = 1000, retryMs = 1000 } = options;
  const delivery = createDelivery(options, sink);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let failures = 0;
  let flushedAt = performance.now();
  let closed = false;

  const turn = async (isLast: boolean): Promise<void> => {
    again = false;
    await delivery.deliver();
    if (isLast || performance.now() - flushedAt >= flushMs) {
      await delivery.flush();
      flushedAt = performance.now();
    } else again ||= delivery.isUnflushed();
  };

  const run = async (): Promise<void> => {
    try {
      await turn(false);
      failures = 0;
    } catch (cause) {
      failures += 1;
      log.error('event-sink-failed', { sink: sink.name, failures, reason: String(cause) });
    }
    running = undefined;
    if (failures > 0) schedule(Math.min(retryMs * 2 ** (failures - 1), retryMs * 60));
    else if (again) schedule(delayMs);
  };

  const schedule = (ms: number): void => {
    if (closed || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = run();
    }, ms);
    timer.unref();
  };

  schedule(delayMs);
  return {
    offer(events) {
      delivery.offer(events);
      if (running !== undefined) again = true;
      else schedule(delayMs);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
      await turn(true).catch((cause) => log.error('event-sink-failed', { sink: sink.name, reason: String(cause) }));
      await sink.close();
    },
  };
}
