import { expect, test } from 'vitest';
import type { Grant } from '../../../domain/invocation/grant.ts';
import { overriddenGrant } from './overridden-grant.ts';

const within = (timeout_seconds_max: number, times: { timeoutMs: number; timeoutMsMax?: number }) => {
  const limits = { cpuMillicores: 1, memoryMb: 1, outputBytesMax: 1, ...times };
  const grant: Grant = { filesystem: [], network: [], credentials: [], limits };
  const { timeoutMs, timeoutMsMax } = overriddenGrant(grant, { timeout_seconds_max }).limits;
  return [timeoutMs, timeoutMsMax];
};

test('VIS-01 an activation bounds the time of a call, and what progress may add to it', () => {
  expect(within(5, { timeoutMs: 10_000 })).toEqual([5_000, undefined]);
  expect(within(20, { timeoutMs: 10_000 })).toEqual([10_000, undefined]);
  expect(within(5, { timeoutMs: 10_000, timeoutMsMax: 60_000 })).toEqual([5_000, undefined]);
  expect(within(20, { timeoutMs: 10_000, timeoutMsMax: 60_000 })).toEqual([10_000, 20_000]);
  expect(within(90, { timeoutMs: 10_000, timeoutMsMax: 60_000 })).toEqual([10_000, 60_000]);
});

test('VIS-01 a grant that no activation shortens stays the same object, and so does one that is shortened again', () => {
  const limits = { cpuMillicores: 1, memoryMb: 1, outputBytesMax: 1, timeoutMs: 10_000 };
  const grant: Grant = { filesystem: [], network: [], credentials: [], limits };
  for (const overrides of [undefined, {}, { timeout_seconds_max: 10 }, { timeout_seconds_max: 11 }])
    expect(overriddenGrant(grant, overrides)).toBe(grant);
  const shorter = { timeout_seconds_max: 9 };
  expect(overriddenGrant(grant, shorter)).toBe(overriddenGrant(grant, shorter));
  expect(overriddenGrant(grant, { timeout_seconds_max: 8 }).limits.timeoutMs).toBe(8_000);
  expect(within(10, { timeoutMs: 10_000, timeoutMsMax: 60_000 })).toEqual([10_000, undefined]);
});
