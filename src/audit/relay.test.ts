import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CloudEvent } from '../../api/schemas/cloud-event.ts';
import { memoryLedgerStore } from '../storage/memory/memory-ledger-store.ts';
import { silentLog } from '../telemetry/log.ts';
import type { EventSink } from './event-sink.port.ts';
import { openLedger } from './ledger.ts';
import { startRelay } from './relay.ts';
import { openJsonlEventSink } from './sinks/jsonl/jsonl-event-sink.ts';

async function ledgerWith(store = memoryLedgerStore()) {
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog });
  const write = (id: string): Promise<void> =>
    ledger.commit({
      events: [{ id, type: 'ai.agent.registry.changed', time: 1, tenantId: 'acme', data: {} }],
      durability: 'asynchronous',
    });
  return { store, write };
}

function collecting(fails: () => boolean = () => false): { sink: EventSink; ids: string[] } {
  const ids: string[] = [];
  const deliver = async (events: readonly CloudEvent[]): Promise<void> => {
    if (fails()) throw new Error('the sink is away');
    ids.push(...events.map(({ id }) => id));
  };
  return { sink: { name: 'collecting', deliver, close: async () => undefined }, ids };
}

const options = { chainId: 'one', log: silentLog, delayMs: 1, retryMs: 1 };

describe('the relay', () => {
  test('AUD-02 every event reaches the sink in order, and a restart goes on where it was', async () => {
    const { store, write } = await ledgerWith();
    const first = collecting();
    const relay = startRelay({ ...options, store, sinks: [first.sink] });
    for (const id of ['a', 'b', 'c']) await write(id);
    relay.wake();
    await relay.close();
    expect(first.ids).toEqual(['a', 'b', 'c']);

    await write('d');
    const second = collecting();
    await startRelay({ ...options, store, sinks: [second.sink] }).close();
    expect(second.ids).toEqual(['d']);
  });

  test('AUD-02 a sink that fails gets the same events again', async () => {
    const { store, write } = await ledgerWith();
    await write('a');
    let failures = 3;
    const { sink, ids } = collecting(() => failures-- > 0);
    const relay = startRelay({ ...options, store, sinks: [sink] });
    await expect.poll(() => ids).toEqual(['a']);
    await relay.close();
    expect(ids).toEqual(['a']);
  });

  test('AUD-02 the JSONL sink holds one event a line, readable by its owner alone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-relay-'));
    const path = join(folder, 'deep', 'audit.jsonl');
    const { store, write } = await ledgerWith();
    for (const id of ['a', 'b']) await write(id);
    await startRelay({ ...options, store, sinks: [await openJsonlEventSink(path)] }).close();
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(['a', 'b']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await rm(folder, { recursive: true });
  });
});
