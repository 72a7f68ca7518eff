import { expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';
import { createFloodGate } from './flood-gate.ts';
import { createRelist } from './relist.ts';
import { createStartSlots } from './start-slots.ts';
import { createTurns } from './turns.ts';

test('EXE-07.4 pauses double up to the longest, and chance takes at most a half of each', () => {
  const bounds = { firstMs: 100, maxMs: 1000 };
  const pauses = (random: number) => [0, 1, 2, 3, 4, 1000].map((attempt) => backoffMs(attempt, bounds, () => random));
  expect(pauses(0)).toEqual([50, 100, 200, 400, 500, 500]);
  expect(pauses(0.999_999)).toEqual([100, 200, 400, 800, 1000, 1000]);
});

test('a flood gate admits as much as its bounds in each window', () => {
  let now = 0;
  const clock = { now: () => 0, monotonic: () => now };
  const gate = createFloodGate(clock, { itemsMax: 3, bytesMax: 100, windowMs: 10 });
  expect([40, 40, 20, 0].map((size) => gate.admits(size))).toEqual([true, true, true, false]);
  now = 11;
  expect([100, 1].map((size) => gate.admits(size))).toEqual([true, false]);
});

test('listings of a server that never rests become rare, and one that asks again later is heard at once', async () => {
  const closing = new AbortController();
  let listings = 0;
  const relist = createRelist(1, closing.signal, async () => {
    listings += 1;
    // During each listing the server notifies that its tools changed again.
    if (listings < 6) relist();
  });
  relist();
  expect(listings).toBe(1);
  while (listings < 6) await new Promise((resolve) => setTimeout(resolve, 1));
  closing.abort();
  await new Promise((resolve) => setTimeout(resolve, 10));
  relist();
  expect(listings).toBe(6);
});

test('only so many start at once, in order, and a failure frees its place', async () => {
  const slots = createStartSlots(2, 60_000);
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (name: string) =>
    slots(async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      if (name === 'a') throw new Error('a failed');
      return name;
    });
  const all = Promise.allSettled(['a', 'b', 'c', 'd'].map(start));
  expect(running).toEqual(['a', 'b']);
  ends.get('a')?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect(running).toEqual(['a', 'b', 'c']);
  for (const name of ['b', 'c', 'd']) {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await all).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
});

test('EXE-11 starts that hang give their places to the others, and free no place twice', async () => {
  const slots = createStartSlots(1, 5);
  const running: string[] = [];
  const end = Promise.withResolvers<void>();
  const start = (name: string, work: () => Promise<void>) =>
    slots(() => {
      running.push(name);
      return work();
    });
  const hanging = [start('a', () => end.promise), start('b', () => end.promise)];
  await start('c', async () => {});
  expect(running).toEqual(['a', 'b', 'c']);
  end.resolve();
  await Promise.all(hanging);
  let atOnce = 0;
  let most = 0;
  const counted = async () => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    atOnce -= 1;
  };
  await Promise.all(['d', 'e', 'f'].map((name) => start(name, counted)));
  expect(most).toBe(1);
});

test('what concerns one key is done in turn, and a failure does not stop the next', async () => {
  const inTurn = createTurns();
  const order: string[] = [];
  const step = (key: string, name: string) =>
    inTurn(key, async () => {
      order.push(`${name} starts`);
      await Promise.resolve();
      order.push(`${name} ends`);
      if (name === 'one') throw new Error('one failed');
    });
  await Promise.allSettled([step('k', 'one'), step('k', 'two'), step('other', 'three')]);
  expect(order.indexOf('two starts')).toBeGreaterThan(order.indexOf('one ends'));
  expect(order.indexOf('three starts')).toBeLessThan(order.indexOf('two starts'));
});
