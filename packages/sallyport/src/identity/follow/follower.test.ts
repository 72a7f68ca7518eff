import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../telemetry/log.ts';
import { createFollower } from './follower.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A follower whose reads are answered by the test. */
function following() {
  const reads: { readonly since: number; readonly answer: (revision: number) => void; readonly fail: () => void }[] =
    [];
  const taken: number[] = [];
  const lines: unknown[] = [];
  const follower = createFollower<{ readonly revision: number }>({
    read: (since) =>
      new Promise((resolve, reject) => {
        reads.push({
          since,
          answer: (revision) => resolve({ revision }),
          fail: () => reject(new Error('no database')),
        });
      }),
    take: ({ revision }) => void taken.push(revision),
    intervalMs: 100,
    event: 'not-followed',
    log: { ...silentLog, error: (event, fields) => void lines.push([event, fields]) },
  });
  const after = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  return { reads, taken, lines, follower, after };
}

test('PRM-01.6 everything is read at the start, then what changed, each interval after the answer before', async () => {
  const { reads, taken, follower, after } = following();
  let isStarted = false;
  const starting = follower.start().then(() => {
    isStarted = true;
  });
  await after(1_000);
  expect([isStarted, reads.length]).toEqual([false, 1]);
  reads[0]?.answer(7);
  await starting;
  expect(taken).toEqual([7]);
  await after(99);
  expect(reads).toHaveLength(1);
  await after(1);
  await after(1_000);
  expect(reads.map(({ since }) => since)).toEqual([0, 7]);
  reads[1]?.answer(9);
  await after(100);
  expect([taken, reads.at(-1)?.since]).toEqual([[7, 9], 9]);
  reads[2]?.answer(9);
  await after(0);
  const again = follower.start();
  reads[3]?.answer(9);
  await again;
  expect(vi.getTimerCount()).toBe(1);
  await follower[Symbol.asyncDispose]();
  expect(vi.getTimerCount()).toBe(0);
});

test('PRM-01.6 a store that does not answer is in the log once an outage, and is asked again; a start fails with it', async () => {
  const { reads, taken, lines, follower, after } = following();
  const starting = follower.start();
  reads[0]?.fail();
  await expect(starting).rejects.toThrow('no database');
  const again = follower.start();
  reads[1]?.answer(1);
  await again;
  const line = ['not-followed', { reason: 'no database' }];
  for (const at of [2, 3]) {
    await after(100);
    reads[at]?.fail();
    await after(0);
    expect([follower.problem(), lines]).toEqual(['no database', [line]]);
  }
  await after(100);
  reads[4]?.answer(2);
  await after(0);
  expect([follower.problem(), taken, reads[4]?.since]).toEqual([undefined, [1, 2], 1]);
  await after(100);
  reads[5]?.fail();
  await after(0);
  expect(lines).toEqual([line, line]);
  await follower[Symbol.asyncDispose]();
});

test('PRM-01.6 a look afresh begins after a look that is under way, and passes on its error alone', async () => {
  const { reads, taken, follower, after } = following();
  const starting = follower.start();
  let isKnown = false;
  const afresh = follower.lookAfresh().then(() => {
    isKnown = true;
  });
  await after(0);
  expect(reads).toHaveLength(1);
  reads[0]?.fail();
  await expect(starting).rejects.toThrow();
  await after(0);
  expect([reads.length, isKnown]).toEqual([2, false]);
  reads[1]?.answer(3);
  await afresh;
  expect([taken, isKnown]).toEqual([[3], true]);
  const failing = expect(follower.lookAfresh()).rejects.toThrow('no database');
  await after(0);
  reads[2]?.fail();
  await failing;
  await follower[Symbol.asyncDispose]();
});

test('PRM-01.6 one that ends waits for its last look, logs nothing of it and plans none', async () => {
  const { reads, lines, follower, after } = following();
  const starting = follower.start();
  reads[0]?.answer(1);
  await starting;
  await after(100);
  let isOver = false;
  const ending = follower[Symbol.asyncDispose]().then(() => {
    isOver = true;
  });
  await after(0);
  expect(isOver).toBe(false);
  reads[1]?.fail();
  await ending;
  await after(1_000);
  expect([reads.length, lines, vi.getTimerCount()]).toEqual([2, [], 0]);
});
