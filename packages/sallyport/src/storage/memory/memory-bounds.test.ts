import { KiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import { expect, test } from 'vitest';
import { CIRCUIT_DEFAULTS } from '../../domain/circuit/circuit-terms.ts';
import { memoryAuthorizationStore } from './memory-authorization-store.ts';
import { memoryCircuitStore } from './memory-circuit-store.ts';
import { memoryDocumentCache } from './memory-document-cache.ts';
import { memoryDocumentUpdates } from './memory-document-updates.ts';
import { memoryPolicyUpdates } from './memory-policy-updates.ts';
import { memoryRateLimiter } from './memory-rate-limiter.ts';
import { memoryVectorIndex } from './memory-vector-index.ts';

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
  for (let taken = 0; taken < 3; taken += 1) expect(limiter.take('one', minutes(3))).toBe(0);
});

const QUICK = { ...CIRCUIT_DEFAULTS, callsMin: 1 };

/** One attempt through a circuit; false when it was refused. */
function attempt(store: ReturnType<typeof memoryCircuitStore>, name: string, end: 'success' | 'failure'): boolean {
  const answer = store.permit('acme', name, QUICK, 1000);
  if (answer.permitted) store.report('acme', name, answer, { end, durationMs: 1 });
  return answer.permitted;
}

test('CIR-01 a hundred thousand names of circuits take no more room than there is, and what is open or set stays longest', async () => {
  const store = memoryCircuitStore({ clock: turnedClock(), circuitsMax: 1000 });
  attempt(store, 'down', 'failure');
  for (const state of ['forced_open', 'disabled'] as const) {
    attempt(store, state, 'success');
    await store.set('acme', state, state);
  }
  for (let at = 0; at < 100_000; at += 1) attempt(store, `name-${at}`, 'success');
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
  for (const [name, state] of Object.entries({ a: 'disabled', b: 'forced_open', c: 'forced_open' } as const)) {
    attempt(set, name, 'success');
    await set.set('acme', name, state);
  }
  expect(() => attempt(set, 'd', 'success')).toThrow(/3 circuits/);
  expect(['a', 'b', 'c'].map((name) => attempt(set, name, 'success'))).toEqual([true, false, false]);
  const failing = memoryCircuitStore({ clock, circuitsMax: 3 });
  for (const name of ['a', 'b', 'c', 'd']) expect(attempt(failing, name, 'failure')).toBe(true);
  expect(failing.size).toBe(3);
});

test('CIR-01 new terms hold for a circuit that is there already, and a circuit is shown with times of the wall clock', async () => {
  const clock = { at: 1_000, now: () => 1_000_000 + clock.at, monotonic: () => clock.at };
  const store = memoryCircuitStore({ clock });
  const slow = { ...CIRCUIT_DEFAULTS, callsMin: 50, windowSize: 100 };
  const answer = store.permit('acme', 'a', slow, 1_000);
  if (answer.permitted) store.report('acme', 'a', answer, { end: 'failure', durationMs: 1 });
  expect((await store.find('acme', 'a'))?.state).toBe('closed');
  clock.at = 3_000;
  attempt(store, 'a', 'failure');
  clock.at = 9_000;
  expect(await store.find('acme', 'a')).toMatchObject({
    name: 'a',
    state: 'open',
    since: 1_003_000,
    lastFailureAt: 1_003_000,
  });
  attempt(store, 'b', 'success');
  expect(await store.find('acme', 'b')).not.toHaveProperty('lastFailureAt');
  expect(await store.find('globex', 'a')).toBeUndefined();
});

test('of remembered documents those used longest ago are dropped for their size, and one tenant is forgotten alone', async () => {
  const place = (tenantId: string) => ({ tenantId, scope: 'all' });
  const answer = (bytes: number) => ({ answer: { content: 'x'.repeat(bytes) } as never, storedAt: 1 });
  const cache = memoryDocumentCache({ bytesMax: 3 * KiB + 10 });
  for (const key of ['a', 'b', 'c']) await cache.put(place('acme'), key, answer(3), 60_000);
  const known = async (tenantId: string) => {
    const found: string[] = [];
    for (const key of ['a', 'b', 'c', 'd']) if ((await cache.get(place(tenantId), key)) !== undefined) found.push(key);
    return found.join('');
  };
  expect(await known('acme')).toBe('abc');
  await cache.put(place('acme'), 'd', answer(3), 0);
  expect(await known('acme')).toBe('abc');
  await cache.get(place('acme'), 'a');
  await cache.put(place('acme2'), 'd', answer(4), 60_000);
  expect([await known('acme'), await known('acme2')]).toEqual(['ac', 'd']);
  await cache.clear('acme');
  expect([await known('acme'), await known('acme2')]).toEqual(['', 'd']);
  await cache.put({ tenantId: 'acme', scope: 'other' }, 'd', answer(3), 60_000);
  await cache.put(place('acme2'), 'd', answer(3), 60_000);
  await cache.drop('acme2', ['d', 'unknown']);
  expect([await known('acme2'), (await cache.get({ tenantId: 'acme', scope: 'other' }, 'd')) !== undefined]).toEqual([
    '',
    true,
  ]);
  const status = { answer: { document_id: 'd', status: 'deprecated' }, storedAt: 1 } as const;
  await cache.put(place('acme2'), 'd', status, 60_000);
  expect(await cache.get(place('acme2'), 'd')).toEqual(status);
  await cache.clear();
  expect(await cache.get({ tenantId: 'acme', scope: 'other' }, 'd')).toBeUndefined();
});

test('after their end nobody is notified of updates', async () => {
  const got: unknown[] = [];
  const [documents, policies] = [memoryDocumentUpdates(), memoryPolicyUpdates()];
  const update = { tenantId: 'acme', documentId: 'd', version: '1' };
  documents.subscribe(() => {
    throw new Error('of one listener');
  });
  documents.subscribe((given) => void got.push(given));
  policies.subscribe(({ reason }) => void got.push(reason));
  await documents.publish(update);
  await policies.publish({ reason: 'changed' });
  for (const each of [documents, policies]) await each[Symbol.asyncDispose]();
  await documents.publish(update);
  await policies.publish({ reason: 'changed' });
  expect(got).toEqual([update, 'changed']);
});

test('REG-05 tools beyond the first room are found by their own vectors, also after others were removed', async () => {
  const index = memoryVectorIndex();
  const at = (angle: number) => Float32Array.of(Math.cos(angle), Math.sin(angle));
  const tool = (n: number) => ({ toolId: `${n}`, vector: at(n / 20) });
  const found = async (more: { also?: string[]; only?: string[]; toolsMax?: number } = {}) =>
    index.search('acme', { queries: [at(0)], cosineMin: -1, toolsMax: 100, also: [], ...more });
  const expectTools = async (ids: readonly number[]) => {
    const cosines = await found();
    expect([...cosines.keys()].map(Number).sort((a, b) => a - b)).toEqual(ids);
    for (const n of ids) expect(cosines.get(`${n}`)).toBeCloseTo(Math.cos(n / 20), 3);
  };
  await index.put('acme', [tool(0)]);
  expect([index.bytes(), (await found()).size]).toEqual([0, 0]);
  await index.open('model', 2);
  const all = Array.from({ length: 40 }, (_, n) => n);
  await index.put('acme', all.map(tool));
  await expectTools(all);
  await index.remove('acme', ['3', '39', 'unknown']);
  await index.remove('globex', ['4']);
  const left = all.filter((n) => n !== 3 && n !== 39);
  await expectTools(left);
  await index.put('acme', [tool(3), tool(7)]);
  await expectTools([...left, 3].sort((a, b) => a - b));
  const only = ['38', '3', '3', 'unknown', '5'];
  expect([...(await found({ only })).keys()].sort()).toEqual(['3', '38', '5']);
  expect([...(await found({ only, toolsMax: 1, also: ['38', '6'] })).keys()].sort()).toEqual(['3', '38']);
  await index.remove('acme', ['5']);
  expect([...(await found({ only })).keys()].sort()).toEqual(['3', '38']);
  await index.open('model', 2);
  expect((await found()).size).toBe(38);
  await index.open('another model', 2);
  expect((await found()).size).toBe(0);
});

test('an authorization is claimed by one at a time, in its newest version, and is removed with its upstream', async () => {
  const clock = turnedClock();
  const store = memoryAuthorizationStore({ clock });
  const place = { tenantId: 'acme', upstream: 'mail', part: 'tokens' } as const;
  const first = (await store.replace(place, 'one', 0)) ?? 0;
  expect(await store.replace(place, 'again', 0)).toBeUndefined();
  const second = (await store.replace(place, 'two', first)) ?? 0;
  expect(await store.read(place)).toEqual({ text: 'two', revision: second });
  expect(await store.claim(place, first, 10)).toBe(false);
  expect([await store.claim(place, second, 10), await store.claim(place, second, 10)]).toEqual([true, false]);
  clock.at += 10;
  expect(await store.claim(place, second, 10)).toBe(true);
  expect(await store.remove('acme', 'other')).toBe(false);
  expect(await store.remove('globex', 'mail')).toBe(false);
  expect(await store.remove('acme', 'mail')).toBe(true);
  expect(await store.read(place)).toBeUndefined();
});
