import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { EventType } from '../../../api/schemas/cloud-event.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { type ChainedEvent, chainedEventOf } from '../../domain/event/chained-event.ts';
import { EMPTY_CHAIN, link } from '../chain.ts';
import type { EventSink } from '../event-sink.port.ts';
import { openJsonlEventSink } from '../sinks/jsonl/jsonl-event-sink.ts';
import { collecting, ledgerWith } from './relay.fixture.ts';
import { notifySideEffects } from './side-effect-listener.ts';

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

  test('AUD-02.2 so many of them that they are read in several pages are all delivered', async () => {
    const { sink, ids } = collecting();
    const { relay, write } = await ledgerWith({ sinks: [sink], delayMs: 100_000 }, false);
    const many = Array.from({ length: 501 }, (_, n) => `${n}`);
    await write(...many);
    await relay.close();
    expect(ids).toEqual(many);
  });

  test('AUD-02.2 an event that was not offered is not passed over by one that was, and nothing else is delivered again', async () => {
    const { sink, ids } = collecting();
    const { store, relay, write } = await ledgerWith({ sinks: [sink], flushMs: 100_000 }, false);
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
    const { store, relay, write } = await ledgerWith({ sinks: [sink] }, false);
    await write('first');
    await expect.poll(() => store.sinkPosition('collecting@one'), { interval: 1 }).toBe(1);
    await write('last');
    // More than is kept: what the store has of it is delivered, although nothing is offered any more.
    const [last] = (await store.chainEvents('one', 1, 1)).map((event) => chainedEventOf(event));
    const many = Array.from({ length: 12_000 }, (_, at) => ({ ...last, seq: at + 2 }) as ChainedEvent);
    relay.offer(many.slice(0, 6_000));
    relay.offer(many.slice(6_000));
    await relay.close();
    expect(ids).toEqual(['first', 'last']);
  });

  test('AUD-02.2 what is committed while a sink takes events is delivered, though nothing new comes', async () => {
    const ids: string[] = [];
    const next: Record<string, string> = { a: 'b', b: 'c', c: 'd' };
    const sink: EventSink = {
      ...collecting().sink,
      async deliver(events) {
        for (const { id } of events) {
          ids.push(id);
          const following = next[id];
          if (following !== undefined) await write(following);
        }
      },
    };
    const { relay, write } = await ledgerWith({ sinks: [sink], flushMs: 0 });
    await write('a');
    await expect.poll(() => ids, { interval: 1 }).toEqual(['a', 'b', 'c', 'd']);
    await relay.close();
    expect(ids).toEqual(['a', 'b', 'c', 'd']);
  });

  test('AUD-02.2 what nobody offered and the sink did not take is tried again, though nothing new comes', async () => {
    let failures = 0;
    const { sink, ids } = collecting(() => failures-- > 0);
    const { store, relay, write } = await ledgerWith({ sinks: [sink] }, false);
    await write('a');
    await expect.poll(() => ids, { interval: 1 }).toEqual(['a']);
    await expect.poll(() => store.sinkPosition('collecting@one'), { interval: 1 }).toBe(1);
    await write('b', 'c');
    failures = 1;
    relay.offer((await store.chainEvents('one', 2, 1)).map((event) => chainedEventOf(event)));
    await expect.poll(() => ids, { interval: 1 }).toEqual(['a', 'b', 'c']);
  });

  test('AUD-02.2 the end waits for what the sink is taking, flushes it and stores its place', async () => {
    const { promise: isFree, resolve } = Promise.withResolvers<void>();
    const ids: string[] = [];
    let under = 0;
    const sink: EventSink = {
      ...collecting().sink,
      async deliver(events) {
        under += 1;
        ids.push(...events.map(({ id }) => id));
        await isFree;
        under -= 1;
      },
      async close() {
        ids.push(`closed ${under}`);
      },
    };
    const { store, relay, write } = await ledgerWith({ sinks: [sink], flushMs: 100_000 });
    await write('a');
    await expect.poll(() => ids, { interval: 1 }).toEqual(['a']);
    const closing = relay.close();
    await new Promise(setImmediate);
    expect(under).toBe(1);
    resolve();
    await closing;
    expect(ids.slice(0, 2)).toEqual(['a', 'closed 0']);
    expect(await store.sinkPosition('collecting@one')).toBe(1);
  });

  test('AUD-02.2 what was committed before the start is delivered though nothing new comes, and what is offered is not read again', async () => {
    const inner = memoryLedgerStore();
    await (await ledgerWith({ store: inner })).write('a');
    let reads = 0;
    const chainEvents: typeof inner.chainEvents = async (...given) => {
      reads += 1;
      return inner.chainEvents(...given);
    };
    const { sink, ids } = collecting();
    const { relay, write } = await ledgerWith({ store: { ...inner, chainEvents }, sinks: [sink] });
    await expect.poll(() => ids, { interval: 1 }).toEqual(['a']);
    const atStart = reads;
    await write('b');
    await expect.poll(() => ids, { interval: 1 }).toEqual(['a', 'b']);
    await write('c', 'd');
    await relay.close();
    expect([ids, reads]).toEqual([['a', 'b', 'c', 'd'], atStart]);
  });

  test('AUD-02.2 as much as is kept in memory is not read again, and the end waits for the sink to close', async () => {
    const inner = memoryLedgerStore();
    const read: number[] = [];
    const chainEvents: typeof inner.chainEvents = async (id, after, limit) => {
      read.push(after);
      return inner.chainEvents(id, after, limit);
    };
    const { promise: isClosed, resolve } = Promise.withResolvers<void>();
    const { sink, ids } = collecting();
    const store = { ...inner, chainEvents };
    const { relay, write } = await ledgerWith({ store, sinks: [{ ...sink, close: () => isClosed }] }, false);
    await write('a');
    await expect.poll(() => ids, { interval: 1 }).toEqual(['a']);
    const before = read.length;
    const [first] = (await inner.chainEvents('one', 0, 1)).map((event) => chainedEventOf(event));
    const following = Array.from({ length: 10_000 }, (_, at) => ({ ...first, seq: at + 2 }) as ChainedEvent);
    relay.offer(following.slice(0, 9_999));
    relay.offer(following.slice(9_999));
    await expect.poll(() => ids.length, { interval: 1 }).toBe(10_001);
    relay.offer([{ ...first, seq: 10_002 } as ChainedEvent]);
    let isOver = false;
    const closing = relay.close().then(() => {
      isOver = true;
    });
    await expect.poll(() => inner.sinkPosition('collecting@one'), { interval: 1 }).toBe(10_002);
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    resolve();
    await closing;
    expect(read).toHaveLength(before);
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

test('VIS-09.1 the embedding program gets the events of side effects alone, in order, whatever it does with one of them', () => {
  const lines: string[] = [];
  const got: string[] = [];
  const log = {
    warn: (event: string, fields: object = {}) => void lines.push(`${event} ${JSON.stringify(fields)}`),
  };
  const notify = notifySideEffects((event) => {
    got.push(`${event.type} of ${event.subject}`);
    if (event.subject === 'first') throw new Error('no room');
  }, log);
  const linked = (subject: string, type: EventType) =>
    link({ id: `id of ${subject}`, type, time: 1, tenantId: 'acme', subject, data: {} }, 'one', EMPTY_CHAIN);
  const [started, completed] = ['ai.agent.tool.side_effect.started', 'ai.agent.tool.side_effect.completed'] as const;
  notify([linked('run', 'ai.agent.tool.invoked'), linked('first', started), linked('second', completed)]);
  expect(got).toEqual([`${started} of first`, `${completed} of second`]);
  expect(lines).toEqual(['side-effect-listener-failed {"event_id":"id of first","reason":"Error: no room"}']);
});
