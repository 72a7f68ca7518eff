import type { Log } from '../telemetry/log.ts';
import type { EventSink } from './event-sink.port.ts';
import type { LedgerStore } from './ledger-store.port.ts';

/** Carries committed events to the sinks beside the database, at least once and in order (AUD-02). */
export interface Relay {
  /** There is something new. Cheap; many calls become one read. */
  wake(): void;
  /** Delivers what is committed, as far as the sinks take it, and stops. */
  close(): Promise<void>;
}

/** What a relay reads and feeds. */
export interface RelayOptions {
  readonly store: LedgerStore;
  /** Each instance relays its own chain: its places have no gaps, so a reader cannot overtake an open transaction. */
  readonly chainId: string;
  readonly sinks: readonly EventSink[];
  readonly log: Log;
  /** How long events are gathered before they are read; default 50 ms. */
  readonly delayMs?: number;
  /** Wait after a sink failed; doubles up to 60 times this; default 1 000 ms. */
  readonly retryMs?: number;
}

/** Events handed to a sink at once. */
const PAGE_EVENTS = 500;

/** Starts one loop for each sink, from where it left off. */
export function startRelay(options: RelayOptions): Relay {
  const loops = options.sinks.map((sink) => startLoop(options, sink));
  for (const loop of loops) loop.wake();
  return {
    wake() {
      for (const loop of loops) loop.wake();
    },
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}

function startLoop({ store, chainId, log, delayMs = 50, retryMs = 1000 }: RelayOptions, sink: EventSink): Relay {
  const cursor = `${sink.name}@${chainId}`;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let failures = 0;
  let closed = false;

  const deliverAll = async (): Promise<void> => {
    for (let seq = await store.sinkPosition(cursor); ; ) {
      const events = await store.chainEvents(chainId, seq, PAGE_EVENTS);
      const last = events.at(-1);
      if (last === undefined) return;
      await sink.deliver(events);
      await store.setSinkPosition(cursor, last.chainseq);
      seq = last.chainseq;
    }
  };

  const run = async (): Promise<void> => {
    again = false;
    try {
      await deliverAll();
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

  return {
    wake() {
      if (running !== undefined) again = true;
      else schedule(delayMs);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
      await deliverAll().catch((cause) => log.error('event-sink-failed', { sink: sink.name, reason: String(cause) }));
      await sink.close();
    },
  };
}
