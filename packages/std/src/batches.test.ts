import { expect, test } from 'vitest';
import { createBatched } from './batches.ts';

/** Batches whose runs end when the test says so. */
function held(limits: { readonly max: number; readonly atOnceMax: number }) {
  const runs: { readonly items: readonly string[]; end(): void; fail(error: Error): void }[] = [];
  const ask = createBatched<string, string>(
    (items) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      runs.push({ items, end: () => resolve(items.map((item) => item.toUpperCase())), fail: reject });
      return promise;
    },
    { ...limits, keyOf: (item) => item },
  );
  return { ask, runs };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a lonely item goes at once, and what comes meanwhile goes together', async () => {
  const { ask, runs } = held({ max: 10, atOnceMax: 1 });
  const answers = ['a', 'b', 'c'].map(ask);
  expect(runs.map(({ items }) => items)).toEqual([['a']]);
  runs[0]?.end();
  await turn();
  expect(runs.map(({ items }) => items)).toEqual([['a'], ['b', 'c']]);
  runs[1]?.end();
  expect(await Promise.all(answers)).toEqual(['A', 'B', 'C']);
  const later = ask('d');
  expect(runs.at(-1)?.items).toEqual(['d']);
  runs.at(-1)?.end();
  expect(await later).toBe('D');
});

test('no batch is larger than the bound, and no more are under way at once', async () => {
  const { ask, runs } = held({ max: 2, atOnceMax: 2 });
  const answers = ['a', 'b', 'c', 'd', 'e'].map(ask);
  expect(runs.map(({ items }) => items)).toEqual([['a'], ['b']]);
  runs[0]?.end();
  await turn();
  expect(runs.slice(2).map(({ items }) => items)).toEqual([['c', 'd']]);
  runs[1]?.end();
  await turn();
  expect(runs.slice(3).map(({ items }) => items)).toEqual([['e']]);
  for (const run of runs) run.end();
  expect(await Promise.all(answers)).toEqual(['A', 'B', 'C', 'D', 'E']);
});

test('one key stands in a batch once', async () => {
  const { ask, runs } = held({ max: 10, atOnceMax: 1 });
  const answers = ['a', 'b', 'b', 'c'].map(ask);
  runs[0]?.end();
  await turn();
  expect(runs[1]?.items).toEqual(['b', 'c']);
  runs[1]?.end();
  await turn();
  expect(runs[2]?.items).toEqual(['b']);
  runs[2]?.end();
  expect(await Promise.all(answers)).toEqual(['A', 'B', 'B', 'C']);
});

test('a failure reaches each item of its batch, and no other', async () => {
  const { ask, runs } = held({ max: 10, atOnceMax: 1 });
  const first = ask('a');
  const second = expect(ask('b')).rejects.toThrow('gone');
  const third = expect(ask('c')).rejects.toThrow('gone');
  runs[0]?.end();
  expect(await first).toBe('A');
  await turn();
  runs[1]?.fail(new Error('gone'));
  await second;
  await third;
  const fourth = ask('d');
  runs[2]?.end();
  expect(await fourth).toBe('D');
});
