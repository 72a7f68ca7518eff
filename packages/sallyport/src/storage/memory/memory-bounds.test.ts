import type { Clock } from '@sallyport/std/clock';
import { expect, test } from 'vitest';
import { CIRCUIT_DEFAULTS } from '../../domain/circuit/circuit-terms.ts';
import { memoryCircuitStore } from './memory-circuit-store.ts';
import { memoryRateLimiter } from './memory-rate-limiter.ts';

function turnedClock(): Clock & { at: number } {
  const clock = { at: 1_000, now: () => clock.at, monotonic: () => clock.at };
  return clock;
}

test('a full limiter drops buckets that are full again before those in use', () => {
  const clock = turnedClock();
  const limiter = memoryRateLimiter({ clock, keysMax: 4 });
  const slow = { algorithm: 'token_bucket', per_minute: 1, burst: 1 } as const;
  const quick = { algorithm: 'token_bucket', per_minute: 60_000, burst: 1 } as const;
  expect(limiter.take('slow', slow)).toBe(0);
  for (let at = 0; at < 1_000; at += 1) {
    clock.at += 2;
    expect(limiter.take(`quick-${at}`, quick)).toBe(0);
    expect(limiter.take('slow', slow)).toBeGreaterThan(0);
  }
});

test('a limiter full of buckets in use drops the one that would be full soonest', () => {
  const limiter = memoryRateLimiter({ clock: turnedClock(), keysMax: 3 });
  const minutes = (burst: number) => ({ algorithm: 'token_bucket', per_minute: 1, burst }) as const;
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
