import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { type ChainedEvent, chainedEventOf } from '../../domain/event/chained-event.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { EventSink } from '../event-sink.port.ts';
import { openLedger } from '../ledger.ts';
import { type RelayOptions, startRelay } from '../relay.ts';
import { openJsonlEventSink } from '../sinks/jsonl/jsonl-event-sink.ts';

/** A ledger, and a relay over it; with `offers` the relay is offered what the ledger commits. */
async function ledgerWith(options: Partial<RelayOptions> = {}, offers = true) {
  const store = options.store ?? memoryLedgerStore();
  const relay = startRelay({
    store,
    chainId: 'one',
    log: silentLog,
    sinks: [],
    delayMs: 1,
    retryMs: 1,
    flushMs: 1,
    ...options,
  });
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

function collecting(fails: () => boolean = () => false): { sink: EventSink; ids: string[] } {
  const ids: string[] = [];
  const deliver = async (events: readonly ChainedEvent[]): Promise<void> => {
    if (fails()) throw new Error('the sink is away');
    ids.push(...events.map(({ id }) => id));
  };
  return { sink: { name: 'collecting', deliver, flush: async () => undefined, close: async () => undefined }, ids };
}

describe('the relay', () => {
  test('AUD-02 every event reaches the sink in order, and a restart goes on where it was', async () => {
    const first = collecting();
    const { store, relay, write } = await ledgerWith({ sinks: [first.sink] });
    await write('a', 'b', 'c');
    await relay.close();
    expect(first.ids).toEqual(['a', 'b', 'c']);

    const second = collecting();
    const again = await ledgerWith({ store, sinks: [second.sink] });
    await again.write('d');
    await again.relay.close();
    expect(second.ids).toEqual(['d']);
  });

  test('AUD-02.2 events that nobody offered are read from the store', async () => {
    const { sink, ids } = collecting();
    const { relay, write } = await ledgerWith({ sinks: [sink] }, false);
    await write('a', 'b');
    await relay.close();
    expect(ids).toEqual(['a', 'b']);
  });

  test('AUD-02.2 an event that was not offered is not passed over by one that was', async () => {
    const { sink, ids } = collecting();
    const { store, relay, write } = await ledgerWith({ sinks: [sink] }, false);
    const offer = async (after: number) =>
      relay.offer((await store.chainEvents('one', after, 1)).map((event) => chainedEventOf(event)));
    await write('a');
    await offer(0);
    await expect.poll(() => ids).toEqual(['a']);
    await write('b', 'c');
    await offer(2);
    await relay.close();
    expect(ids).toEqual(['a', 'b', 'c']);
  });

  test('AUD-02.2 AUD-02.7 what was not flushed before a crash is delivered again', async () => {
    const first = collecting();
    const flush = (): Promise<void> => Promise.reject(new Error('no room on the disk'));
    const { store, relay, write } = await ledgerWith({ sinks: [{ ...first.sink, flush }] });
    await write('a');
    await relay.close();
    const second = collecting();
    await (await ledgerWith({ store, sinks: [second.sink] })).relay.close();
    expect([first.ids.includes('a'), second.ids]).toEqual([true, ['a']]);
  });

  test('AUD-02.2 a sink that fails gets the same events again', async () => {
    let failures = 3;
    const { sink, ids } = collecting(() => failures-- > 0);
    const { relay, write } = await ledgerWith({ sinks: [sink] });
    await write('a');
    await expect.poll(() => ids).toEqual(['a']);
    await relay.close();
    expect(ids).toEqual(['a']);
  });

  test('AUD-02.2 a burst beyond what is kept in memory arrives whole', async () => {
    const { sink, ids } = collecting();
    const { store, relay, write } = await ledgerWith({ sinks: [sink], delayMs: 100_000 });
    await write('first');
    const many = (await store.chainEvents('one', 0, 1)).flatMap((event) =>
      Array<ChainedEvent>(6000).fill(chainedEventOf(event)),
    );
    relay.offer(many);
    relay.offer(many);
    await write('last');
    await relay.close();
    expect(ids).toEqual(['first', 'last']);
  });

  test('AUD-02 the JSONL sink holds one event a line, readable by its owner alone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-relay-'));
    const path = join(folder, 'deep', 'audit.jsonl');
    const { relay, write } = await ledgerWith({ sinks: [await openJsonlEventSink(path)] });
    await write('a', 'b');
    await relay.close();
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(['a', 'b']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await rm(folder, { recursive: true });
  });
});
