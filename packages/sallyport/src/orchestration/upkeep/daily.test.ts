import { expect, test } from 'vitest';
import { memoryDailyLease } from '../../../test/stores/outcomes/memory-daily-lease.ts';
import { lastDue, onceADay } from './daily.ts';

const HOUR_MS = 3_600_000;
const at = (iso: string): number => Date.parse(iso);

test("STA-06.1 the work of 2 o'clock is due at 02:00 UTC, and not a moment before", () => {
  expect(lastDue(at('2026-03-01T02:00:00.000Z'), 2)).toBe(at('2026-03-01T02:00:00Z'));
  expect(lastDue(at('2026-03-01T01:59:59.999Z'), 2)).toBe(at('2026-02-28T02:00:00Z'));
  expect(lastDue(at('2026-03-01T00:00:00.000Z'), 0)).toBe(at('2026-03-01T00:00:00Z'));
  expect(lastDue(at('2026-03-01T22:59:59.999Z'), 23)).toBe(at('2026-02-28T23:00:00Z'));
});

/** Instances that share a lease; each does the work that is given. */
function instances(count: number, run: (holder: string, mayContinue: () => Promise<boolean>) => Promise<void>) {
  let now = at('2026-03-01T01:00:00Z');
  const clock = { now: () => now, monotonic: () => now };
  const lease = memoryDailyLease(() => now);
  const turns = Array.from({ length: count }, (_, index) => {
    const holder = `instance-${index}`;
    const work = { name: 'work', hour: 2, run: (mayContinue: () => Promise<boolean>) => run(holder, mayContinue) };
    return onceADay({ lease, holder, clock }, work);
  });
  const never = (): boolean => false;
  return {
    turn: (from = 0) => Promise.allSettled(turns.slice(from).map((turn) => turn(never))),
    pass: (ms: number): void => {
      now += ms;
    },
  };
}

test('STA-06.1 one of many instances does it once a day, and makes up for a day that was missed', async () => {
  const done: string[] = [];
  const { turn, pass } = instances(3, async (holder) => void done.push(holder));
  await turn();
  await turn();
  expect(done).toHaveLength(1);
  pass(HOUR_MS - 1);
  await turn();
  expect(done).toHaveLength(1);
  pass(1);
  await turn();
  await turn();
  expect(done).toHaveLength(2);
  pass(72 * HOUR_MS);
  await turn();
  expect(done).toHaveLength(3);
});

test('STA-06.1 after a failure it is done again an hour later', async () => {
  let runs = 0;
  const { turn, pass } = instances(1, async () => {
    runs += 1;
    if (runs === 1) throw new Error('The disk is full.');
  });
  expect(await turn()).toMatchObject([{ status: 'rejected' }]);
  pass(HOUR_MS - 1);
  await turn();
  expect(runs).toBe(1);
  pass(1);
  await turn();
  await turn();
  expect(runs).toBe(2);
});

test('STA-06.1 an instance that lost its lease stops, and the work is not taken for done', async () => {
  const done: string[] = [];
  let lose = (): void => {};
  const { turn, pass } = instances(2, async (holder, mayContinue) => {
    if (done.length === 0) {
      done.push(holder);
      lose();
      // Another instance takes the lease meanwhile.
      await turn(1);
      expect(await mayContinue()).toBe(false);
    } else done.push(holder);
  });
  lose = () => pass(300_000);
  await turn();
  expect(done).toEqual(['instance-0', 'instance-1']);
});
