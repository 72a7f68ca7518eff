import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTimeLimit, type TimedRun } from './time-limit.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('each is told of when its own time is up, and those that ended are not', () => {
  const limit = createTimeLimit(1000);
  const over: string[] = [];
  const begin = (name: string): TimedRun => limit.begin(() => void over.push(name));
  const [first] = [begin('first'), begin('second')];
  vi.advanceTimersByTime(600);
  const third = begin('third');
  begin('fourth');
  const fifth = begin('fifth');
  limit.end(first);
  limit.end(third);
  vi.advanceTimersByTime(399);
  expect(over).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(over).toEqual(['second']);
  limit.end(fifth);
  vi.advanceTimersByTime(600);
  expect(over).toEqual(['second', 'fourth']);
  expect(vi.getTimerCount()).toBe(0);
});

test('what is over may be ended once more, and what begins later has its whole time', () => {
  const limit = createTimeLimit(1000);
  const over: string[] = [];
  const first = limit.begin(() => {
    over.push('first');
    limit.end(first);
  });
  vi.advanceTimersByTime(1000);
  limit.end(first);
  limit.begin(() => void over.push('second'));
  limit.end(first);
  vi.advanceTimersByTime(999);
  expect(over).toEqual(['first']);
  vi.advanceTimersByTime(1);
  expect(over).toEqual(['first', 'second']);
});

test('a timer that is left over from an end tells nobody, and the next begins with its whole time', () => {
  const limit = createTimeLimit(1000);
  const over: string[] = [];
  limit.end(limit.begin(() => void over.push('first')));
  vi.advanceTimersByTime(500);
  limit.begin(() => void over.push('second'));
  vi.advanceTimersByTime(999);
  expect(over).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(over).toEqual(['second']);
});

test('the process is kept alive as long as anything runs, and no longer', () => {
  vi.useRealTimers();
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const limit = createTimeLimit(60_000);
  for (let round = 0; round < 2; round += 1) {
    const run = limit.begin(() => undefined);
    expect(timers()).toBe(before + 1);
    limit.end(run);
    expect(timers()).toBe(before);
  }
});

test('more ms than a timer can count are waited for all the same', () => {
  const limit = createTimeLimit(2 ** 32);
  const over: string[] = [];
  limit.begin(() => void over.push('run'));
  vi.advanceTimersByTime(2 ** 31);
  expect(over).toEqual([]);
  vi.advanceTimersByTime(2 ** 31);
  expect(over).toEqual(['run']);
});
