import type { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type DeadlineTerms, startDeadline } from './deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A deadline that notes when it ended, in ms since its start. */
function start(terms: DeadlineTerms) {
  const startedAt = Date.now();
  const ends: { readonly at: number; readonly message: string }[] = [];
  const over = ({ message }: ToolLayerError): void => void ends.push({ at: Date.now() - startedAt, message });
  return { ends, deadline: startDeadline({ monotonic: () => Date.now() }, terms, over) };
}

/** Reports progress at a fixed interval, ms. */
async function report({ deadline }: ReturnType<typeof start>, everyMs: number, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await vi.advanceTimersByTimeAsync(everyMs);
    deadline.progressed();
  }
}

test('PIPE-06 a run is stopped at its timeout, which progress does not move where the terms do not say so', async () => {
  const made = start({ timeoutMs: 1000 });
  await report(made, 400, 5);
  expect(made.ends).toMatchObject([{ at: 1000, message: expect.stringContaining('within 1 s') }]);
});

test('EXE-12.1 each report of progress begins the timeout anew', async () => {
  const made = start({ timeoutMs: 1000, timeoutMsMax: 60_000 });
  await report(made, 900, 5);
  expect(made.ends).toEqual([]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(made.ends).toMatchObject([{ at: 5500, message: expect.stringContaining('no progress for 1 s') }]);
});

test('EXE-12.2 however much progress there is, a run lasts no longer than the longest time', async () => {
  const made = start({ timeoutMs: 1000, timeoutMsMax: 3000 });
  await report(made, 900, 5);
  expect(made.ends).toMatchObject([{ at: 3000, message: expect.stringContaining('upstreams.timeout_seconds_max') }]);
});

test('EXE-12 the time that a person takes is no silence, up to the longest time', async () => {
  const made = start({ timeoutMs: 1000, timeoutMsMax: 10_000, idleMs: 500 });
  {
    using _asking = made.deadline.asking();
    await vi.advanceTimersByTimeAsync(5000);
  }
  expect(made.ends).toEqual([]);
  await vi.advanceTimersByTimeAsync(600);
  expect(made.ends).toMatchObject([{ at: 5500, message: expect.stringContaining('no sign of life') }]);
  made.deadline.stop();

  const forever = start({ timeoutMs: 1000, timeoutMsMax: 3000 });
  using _asking = forever.deadline.asking();
  await vi.advanceTimersByTimeAsync(5000);
  expect(forever.ends).toMatchObject([{ at: 3000 }]);
});

test('PIPE-12 an extension counts beside what progress gives', async () => {
  const made = start({ timeoutMs: 1000, timeoutMsMax: 2000 });
  made.deadline.extendTo(4000);
  await vi.advanceTimersByTimeAsync(4900);
  expect(made.ends).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(made.ends).toMatchObject([{ at: 5000 }]);
});
