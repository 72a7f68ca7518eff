import { expect, test, vi } from 'vitest';
import { silentLog } from '../../telemetry/log.ts';
import { collecting, ledgerWith } from './relay.fixture.ts';

test('AUD-02.2 AUD-05 pauses grow while a sink fails, up to their limit; it is flushed in its time, and then nothing is left to do', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const lines: string[] = [];
    const log = {
      ...silentLog,
      error: (event: string, fields: object = {}) => void lines.push(`${event} ${JSON.stringify(fields)}`),
    };
    let tries = 0;
    let isBroken = true;
    let flushed = 0;
    const { sink, ids } = collecting(() => {
      tries += 1;
      return isBroken;
    });
    const flush = async () => {
      flushed += 1;
    };
    const times = { delayMs: 10, retryMs: 100, flushMs: 1_000 };
    const idle = await ledgerWith({ sinks: [sink], ...times });
    await vi.advanceTimersByTimeAsync(10);
    expect(vi.getTimerCount()).toBe(0);
    await idle.relay.close();
    const { relay, write, store } = await ledgerWith({ sinks: [{ ...sink, flush }], log, ...times });
    await write('a');
    /** The next try comes after so many ms and not before; the try itself takes a busy machine its time. */
    const nextTry = async (ms: number, count: number) => {
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(tries).toBe(count - 1);
      await vi.advanceTimersByTimeAsync(1);
      await expect.poll(() => tries).toBe(count);
      await expect.poll(() => vi.getTimerCount()).toBe(1);
    };
    for (const [at, ms] of [10, 100, 200, 400, 800, 1_600, 3_200].entries()) await nextTry(ms, at + 1);
    // From here on the pause is the longest.
    for (const count of [8, 9]) await nextTry(6_000, count);
    const said = (failures: number) =>
      `event-sink-failed ${JSON.stringify({ sink: 'collecting', failures, reason: 'Error: the sink is away' })}`;
    expect(lines).toEqual(Array.from({ length: 9 }, (_, at) => said(at + 1)));
    isBroken = false;
    await vi.advanceTimersByTimeAsync(6_000);
    await expect.poll(() => [tries, ids, flushed, vi.getTimerCount()]).toEqual([10, ['a'], 1, 0]);
    await write('b');
    await vi.advanceTimersByTimeAsync(10);
    await expect.poll(() => [ids, flushed]).toEqual([['a', 'b'], 1]);
    await vi.advanceTimersByTimeAsync(989);
    expect(flushed).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    const position = () => store.sinkPosition('collecting@one');
    await expect.poll(async () => [flushed, await position(), vi.getTimerCount()]).toEqual([2, 2, 0]);
    // One that failed once begins with the shortest pause again.
    isBroken = true;
    await write('c');
    await nextTry(10, 12);
    await nextTry(100, 13);
    await relay.close();
    const last = { sink: 'collecting', reason: 'Error: the sink is away' };
    expect(lines.at(-1)).toBe(`event-sink-failed ${JSON.stringify(last)}`);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
