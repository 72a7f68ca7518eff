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
