import { onTestFinished } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { ChainedEvent } from '../../domain/event/chained-event.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { EventSink } from '../event-sink.port.ts';
import { openLedger } from '../ledger.ts';
import { type RelayOptions, startRelay } from '../relay.ts';

/** A ledger, and a relay over it that ends with the test; with `offers` the relay is offered what the ledger commits. */
export async function ledgerWith(options: Partial<RelayOptions> = {}, offers = true) {
  const store = options.store ?? memoryLedgerStore();
  const relay = startRelay({
    store,
    chainId: 'one',
    log: silentLog,
    delayMs: 1,
    retryMs: 1,
    flushMs: 1,
    ...options,
    sinks: (options.sinks ?? []).map(endingWithTest),
  });
  // Not awaited: a sink of a test that failed may never close.
  onTestFinished(() => void relay.close());
  const onCommitted = offers ? relay.offer : () => undefined;
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog, onCommitted });
  const write = async (...ids: string[]): Promise<void> => {
    for (const id of ids) {
      const event = { id, type: 'ai.agent.registry.changed' as const, time: 1, tenantId: 'acme', data: {} };
      await ledger.commit({ events: [event], durability: 'asynchronous' });
    }
  };
  return { store, relay, write };
}

/** A sink that takes everything once its test is over, so that nothing of it is tried again. */
function endingWithTest(sink: EventSink): EventSink {
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  return {
    ...sink,
    deliver: async (events) => (isOver ? undefined : sink.deliver(events)),
    flush: async () => (isOver ? undefined : sink.flush()),
  };
}

/** A sink that keeps the ids of the events that it takes. */
export function collecting(fails: () => boolean = () => false): { sink: EventSink; ids: string[] } {
  const ids: string[] = [];
  const deliver = async (events: readonly ChainedEvent[]): Promise<void> => {
    if (fails()) throw new Error('the sink is away');
    ids.push(...events.map(({ id }) => id));
  };
  return { sink: { name: 'collecting', deliver, flush: async () => undefined, close: async () => undefined }, ids };
}
