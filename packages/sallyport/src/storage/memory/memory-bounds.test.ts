import type { Clock } from '@sallyport/std/clock';
import { expect, test } from 'vitest';
import { CIRCUIT_DEFAULTS } from '../../domain/circuit/circuit-terms.ts';
import { type ChainedEvent, chainedEventOf } from '../../domain/event/chained-event.ts';
import { memoryCircuitStore } from './calls/memory-circuit-store.ts';
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
    store.claim({ tenantId: 'acme', key, requestHash: 'hash', nonce: key, invocationId: key }, 100);
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

const QUICK = { ...CIRCUIT_DEFAULTS, callsMin: 1 };

/** One attempt through a circuit; false when it was refused. */
function attempt(store: ReturnType<typeof memoryCircuitStore>, name: string, end: 'success' | 'failure'): boolean {
  const answer = store.permit('acme', name, QUICK, 1000);
  if (answer.permitted) store.report('acme', name, answer, { end, durationMs: 1 });
  return answer.permitted;
}

test('CIR-01 a million names of circuits take no more room than there is, and what is open or set stays longest', async () => {
  const store = memoryCircuitStore({ clock: turnedClock(), circuitsMax: 1000 });
  attempt(store, 'down', 'failure');
  for (const state of ['forced_open', 'disabled'] as const) {
    attempt(store, state, 'success');
    await store.set('acme', state, state);
  }
  for (let at = 0; at < 1_000_000; at += 1) attempt(store, `name-${at}`, 'success');
  expect(store.size).toBe(1000);
  expect(attempt(store, 'down', 'success')).toBe(false);
  expect((await store.find('acme', 'forced_open'))?.state).toBe('forced_open');
  expect((await store.find('acme', 'disabled'))?.state).toBe('disabled');
});

test('CIR-01 a full store forgets circuits that nobody asked for long before those in use', () => {
  const store = memoryCircuitStore({ clock: turnedClock(), circuitsMax: 20 });
  const slow = { ...CIRCUIT_DEFAULTS, callsMin: 50, windowSize: 100 };
  const fail = (): string | undefined => {
    const answer = store.permit('acme', 'busy', slow, 1000);
    return answer.permitted ? store.report('acme', 'busy', answer, { end: 'failure', durationMs: 1 })?.to : 'refused';
  };
  const ends = Array.from({ length: 50 }, (_, at) => {
    attempt(store, `other-${at}`, 'success');
    return fail();
  });
  expect(ends.at(-1)).toBe('open');
});

test('CIR-01 a store full of what people set refuses a new circuit, and one of failing ones forgets one of these', async () => {
  const clock = turnedClock();
  const set = memoryCircuitStore({ clock, circuitsMax: 3 });
  for (const name of ['a', 'b', 'c']) {
    attempt(set, name, 'success');
    await set.set('acme', name, 'disabled');
  }
  expect(() => attempt(set, 'd', 'success')).toThrow(/3 circuits/);
  expect(attempt(set, 'a', 'success')).toBe(true);
  const failing = memoryCircuitStore({ clock, circuitsMax: 3 });
  for (const name of ['a', 'b', 'c', 'd']) expect(attempt(failing, name, 'failure')).toBe(true);
  expect(failing.size).toBe(3);
});
