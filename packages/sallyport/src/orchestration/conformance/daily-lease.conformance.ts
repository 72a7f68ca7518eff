import { equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { DailyLease } from '../../bridges/daily-lease.port.ts';

const DAY_MS = 86_400_000;
const DUE = 1_800_000_000_000;
const LONG_MS = 600_000;

/** Requirements of every DailyLease. `open` gives an empty one each time. */
export function dailyLeaseConformance(test: TestCase, adapter: string, open: OpenStore<DailyLease>): void {
  const check = casesOver(test, adapter, open);

  check('STA-06.1 of many instances one has the lease, and renews it', async (lease) => {
    const holders = ['a', 'b', 'c', 'd'];
    const taken = await Promise.all(holders.map((holder) => lease.take('retention', DUE, holder, LONG_MS)));
    equal(taken.filter(Boolean).length, 1);
    for (const [at, holder] of holders.entries()) equal(await lease.take('retention', DUE, holder, LONG_MS), taken[at]);
    equal(await lease.take('other work', DUE, 'd', LONG_MS), true);
  });

  check('STA-06.1 what was done for a day is not done again, and is due on the next', async (lease) => {
    for (const work of ['retention', 'other work']) equal(await lease.take(work, DUE, 'a', LONG_MS), true);
    await lease.done('retention', DUE, 'b');
    equal(await lease.take('retention', DUE, 'b', LONG_MS), false);
    equal(await lease.take('retention', DUE, 'a', LONG_MS), true);
    await lease.done('retention', DUE, 'a');
    equal(await lease.take('retention', DUE, 'a', LONG_MS), false);
    equal(await lease.take('other work', DUE, 'a', LONG_MS), true);
    equal(await lease.take('retention', DUE - DAY_MS, 'b', LONG_MS), false);
    equal(await lease.take('retention', DUE + DAY_MS, 'b', LONG_MS), true);
  });

  check('STA-06.1 the lease of an instance that is gone ends, and another does the work', async (lease) => {
    equal(await lease.take('retention', DUE, 'a', 0), true);
    equal(await lease.take('retention', DUE, 'b', LONG_MS), true);
    equal(await lease.take('retention', DUE, 'a', LONG_MS), false);
  });
}
