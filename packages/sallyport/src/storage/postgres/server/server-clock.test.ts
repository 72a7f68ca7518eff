import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { followServerClock } from './server-clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('ORC-05.2 the time of the server is measured again, and counts on while the server does not answer', async () => {
  let monotonic = 0;
  const server = [1_000_000, 1_020_500];
  const ask = async (): Promise<number> => {
    // The question takes 10 ms.
    monotonic += 10;
    return server.shift() ?? Promise.reject(new Error('away'));
  };
  const clock = await followServerClock(ask, { monotonic: () => monotonic });
  expect(clock.now()).toBe(1_000_005);
  monotonic += 1_000;
  expect(clock.now()).toBe(1_001_005);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(clock.now()).toBe(1_020_505);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(clock.now()).toBe(1_020_515);
  clock[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
  await expect(followServerClock(ask, clock)).rejects.toThrow('away');
});

test('ORC-05.2 an answer that took long does not move the time of the server', async () => {
  let monotonic = 0;
  let tookMs = 10;
  const ask = async (): Promise<number> => {
    const asked = monotonic;
    monotonic += tookMs;
    return 1_000_000 + asked + 5;
  };
  const clock = await followServerClock(ask, { monotonic: () => monotonic });
  expect(clock.now()).toBe(1_000_010);
  for (tookMs of [1_001, 8_000]) await vi.advanceTimersByTimeAsync(10_000);
  expect(clock.now()).toBe(1_009_011);
  tookMs = 1_000;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(clock.now()).toBe(1_009_516);
  clock[Symbol.dispose]();
});
