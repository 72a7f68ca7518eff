import { expect, test } from 'vitest';
import type { ChainedEvent } from '../../domain/event/chained-event.ts';
import { textOfCall } from '../../domain/invocation/call-key.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Attempt } from './attempt.ts';
import type { LedgerEntry } from './ledger-entry.ts';
import { createUncertainWrites } from './uncertain-writes.ts';

const head = (seq: number) => ({ seq, hash: `h${seq}` });
const event = (id: string) => ({ id }) as ChainedEvent;
/** A failed write of the link `seq`. */
const attempt = (seq: number, more: Partial<Attempt> = {}): Attempt => ({
  start: head(seq - 1),
  end: head(seq),
  events: [event(`e${seq}`)],
  endedCalls: [],
  ...more,
});
const entry = (ids: readonly string[], more: Partial<LedgerEntry> = {}): LedgerEntry => ({
  events: ids.map((id) => ({ id, type: 'ai.agent.registry.changed', time: 1, tenantId: 'acme', data: {} })),
  durability: 'synchronous',
  ...more,
});
const settled = (writes: ReturnType<typeof createUncertainWrites>, seq: number) =>
  writes.settle(head(seq)).map(({ end }) => end.seq);

test('AUD-02 of the failed writes the last 32 are remembered, and none that has no event', () => {
  const writes = createUncertainWrites();
  writes.add(attempt(1));
  for (let seq = 2; seq <= 33; seq += 1) writes.add(attempt(seq));
  expect(settled(writes, 33)).toEqual(Array.from({ length: 32 }, (_, at) => at + 2));
  expect([writes.isLinked('e1'), writes.isLinked('e2'), writes.isLinked('e33')]).toEqual([false, true, true]);
  const empty = createUncertainWrites();
  empty.add(attempt(1, { events: [] }));
  expect(settled(empty, 1)).toEqual([]);
});

test('AUD-02 what begins at the newest link may still be written, what begins before it not', () => {
  const writes = createUncertainWrites();
  for (const seq of [3, 4, 5]) writes.add(attempt(seq));
  writes.passed(head(3));
  expect(settled(writes, 3)).toEqual([]);
  expect(settled(writes, 5)).toEqual([4, 5]);
  expect(settled(writes, 5)).toEqual([]);
});

test('AUD-02 an entry is written when its last event is, unless it is held in its row', () => {
  const writes = createUncertainWrites();
  expect(writes.isWritten(entry(['a']))).toBe(false);
  writes.add(attempt(1, { events: [event('a'), event('b')] }));
  expect(writes.isWritten(entry(['a', 'b']))).toBe(false);
  writes.settle(head(1));
  expect([['a', 'b'], ['b', 'c'], ['b'], []].map((ids) => writes.isWritten(entry(ids)))).toEqual([
    ...[true, false, true, false],
  ]);
  expect(writes.isWritten(entry(['b'], { inRow: true }))).toBe(false);
});

test('AUD-02 the last ten thousand events of such writes are known', () => {
  const writes = createUncertainWrites();
  writes.add(attempt(1, { events: Array.from({ length: 10_001 }, (_, at) => event(`${at}`)) }));
  writes.settle(head(1));
  expect([writes.isLinked('0'), writes.isLinked('1'), writes.isLinked('10000')]).toEqual([false, true, true]);
});

test('AUD-02 an entry that ends a call is overtaken by a write that ended it, until writes are settled again', () => {
  const ending = (state: InvocationRecord['state'], invocationId = 'c') =>
    entry(['x'], { record: { tenantId: 'acme', invocationId, state } as InvocationRecord });
  const writes = createUncertainWrites();
  writes.add(attempt(1, { endedCalls: [textOfCall({ tenantId: 'acme', invocationId: 'c' })] }));
  writes.settle(head(0));
  expect(writes.isOvertaken(ending('FAILED'))).toBe(false);
  writes.settle(head(1));
  expect(
    [ending('FAILED'), ending('EXECUTING'), ending('FAILED', 'd'), entry(['x'])].map((each) =>
      writes.isOvertaken(each),
    ),
  ).toEqual([true, false, false, false]);
  writes.settle(head(1));
  expect(writes.isOvertaken(ending('FAILED'))).toBe(false);
});

test('AUD-02 writes that may still succeed are those of one chain, in whatever order they failed', () => {
  const writes = createUncertainWrites();
  for (const seq of [2, 1]) writes.add(attempt(seq));
  writes.add(attempt(2, { start: { seq: 1, hash: 'of another' }, end: { seq: 2, hash: 'also' } }));
  expect(settled(writes, 0)).toEqual([]);
  expect(settled(writes, 2)).toEqual([1, 2]);
  expect(writes.settle({ seq: 2, hash: 'also' })).toEqual([]);
});
