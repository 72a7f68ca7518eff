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
    const triesAfter = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      return tries;
    };
    expect([await triesAfter(9), await triesAfter(1)]).toEqual([0, 1]);
    expect([await triesAfter(99), await triesAfter(1)]).toEqual([1, 2]);
    expect([await triesAfter(199), await triesAfter(1)]).toEqual([2, 3]);
    expect([await triesAfter(399), await triesAfter(1)]).toEqual([3, 4]);
    await triesAfter(800 + 1_600 + 3_200);
    expect(tries).toBe(7);
    // From here on the pause is the longest.
    expect([await triesAfter(5_999), await triesAfter(1), await triesAfter(6_000)]).toEqual([7, 8, 9]);
    const said = (failures: number) =>
      `event-sink-failed ${JSON.stringify({ sink: 'collecting', failures, reason: 'Error: the sink is away' })}`;
    expect(lines).toEqual(Array.from({ length: 9 }, (_, at) => said(at + 1)));
    isBroken = false;
    expect(await triesAfter(6_000)).toBe(10);
    expect([ids, flushed]).toEqual([['a'], 1]);
    expect(vi.getTimerCount()).toBe(0);
    await write('b');
    await vi.advanceTimersByTimeAsync(10);
    expect([ids, flushed]).toEqual([['a', 'b'], 1]);
    await vi.advanceTimersByTimeAsync(989);
    expect(flushed).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect([flushed, await store.sinkPosition('collecting@one'), vi.getTimerCount()]).toEqual([2, 2, 0]);
    // One that failed once begins with the shortest pause again.
    isBroken = true;
    await write('c');
    expect([await triesAfter(10), await triesAfter(99), await triesAfter(1)]).toEqual([12, 12, 13]);
    await relay.close();
    const last = { sink: 'collecting', reason: 'Error: the sink is away' };
    expect(lines.at(-1)).toBe(`event-sink-failed ${JSON.stringify(last)}`);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
