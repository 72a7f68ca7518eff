import { expect, test } from 'vitest';
import { type ChainedEvent, chainedEventOf } from '../../domain/event/chained-event.ts';
import type { Clock } from '../../std/clock.ts';
import { memoryIdempotencyStore } from './calls/memory-idempotency-store.ts';
import { memoryLedgerStore } from './memory-ledger-store.ts';
import { memoryRateLimiter } from './memory-rate-limiter.ts';

function turnedClock(): Clock & { at: number } {
  const clock = { at: 1_000, now: () => clock.at, monotonic: () => clock.at };
  return clock;
}

test('a ledger takes its last event and refuses the next batch whole', async () => {
  const ledger = memoryLedgerStore({ eventsMax: 2 });
  await ledger.append({ records: [], events: [event(1)] }, 'synchronous');
  await expect(ledger.append({ records: [], events: [event(2), event(3)] }, 'synchronous')).rejects.toMatchObject({
    code: 'E3812',
  });
  await ledger.append({ records: [], events: [event(2)] }, 'synchronous');
  expect((await ledger.chainHead('chain-1'))?.seq).toBe(2);
});

test('a full store of claims refuses a new key until an old one expires, and still answers the keys it holds', async () => {
  const clock = turnedClock();
  const store = memoryIdempotencyStore({ clock, claimsMax: 2 });
  const claim = (key: string) =>
    store.claim({ tenantId: 'acme', key, requestHash: 'hash', invocationId: key, expiresAt: clock.at + 100 });
  const first = await claim('one');
  await claim('two');
  await expect(claim('three')).rejects.toMatchObject({ code: 'E3812' });
  expect(await claim('one')).toEqual(first);
  clock.at += 101;
  expect((await claim('three')).invocationId).toBe('three');
});

test('a full limiter drops buckets that are full again before those in use', () => {
  const clock = turnedClock();
  const limiter = memoryRateLimiter({ clock, bucketsMax: 4 });
  const slow = { per_minute: 1, burst: 1 };
  const quick = { per_minute: 60_000, burst: 1 };
  expect(limiter.take('slow', slow)).toBe(0);
  for (let at = 0; at < 1_000; at += 1) {
    clock.at += 2;
    expect(limiter.take(`quick-${at}`, quick)).toBe(0);
    expect(limiter.take('slow', slow)).toBeGreaterThan(0);
  }
});

test('a limiter full of buckets in use drops the one that would be full soonest', () => {
  const limiter = memoryRateLimiter({ clock: turnedClock(), bucketsMax: 3 });
  const minutes = (burst: number) => ({ per_minute: 1, burst });
  for (const [key, spent] of [
    ['three', 3],
    ['one', 1],
    ['two', 2],
  ] as const) {
    for (let taken = 0; taken < spent; taken += 1) limiter.take(key, minutes(3));
  }
  expect(limiter.take('new', minutes(1))).toBe(0);
  expect(limiter.take('three', minutes(3))).toBeGreaterThan(0);
  expect(limiter.take('two', minutes(3))).toBe(0);
  expect(limiter.take('two', minutes(3))).toBeGreaterThan(0);
});

function event(seq: number): ChainedEvent {
  return chainedEventOf({
    specversion: '1.0',
    id: `event-${seq}`,
    source: '/sallyport/instance-1',
    type: 'ai.agent.tool.invoked',
    time: '2026-01-02T03:04:05.678Z',
    datacontenttype: 'application/json',
    tenantid: 'acme',
    chainid: 'chain-1',
    chainseq: seq,
    chainprev: `hash-${seq - 1}`,
    chainhash: `hash-${seq}`,
    data: {},
  });
}
