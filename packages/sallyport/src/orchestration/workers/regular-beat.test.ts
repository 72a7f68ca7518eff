import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, expect, test } from 'vitest';
import type { WorkerLimits } from '../workers.ts';
import { instance, LATER, over, sharedMemory, until } from './workers.fixture.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

/** An instance whose stores become unavailable when the test says so. */
async function start(limits: Partial<WorkerLimits> = {}) {
  const shared = sharedMemory();
  const away = { rows: false, leases: false };
  const unless =
    <Given extends unknown[], Result>(what: keyof typeof away, act: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      if (away[what]) throw new ToolLayerError('E3812', 'away');
      return act(...given);
    };
  const { store, leases } = shared;
  const records = { ...store, findInvocation: unless('rows', store.findInvocation) };
  const faulty = {
    ...leases,
    take: unless('leases', leases.take),
    beat: unless('leases', leases.beat),
    release: unless('rows', leases.release),
  };
  const made = await instance('one', { ...shared, leases: faulty }, limits, { workers: { records } });
  opened.push(made);
  let ran = 0;
  await made.tool('once', () => (ran += 1), { side_effect_policy: 'irreversible' });
  await made.workers.start();
  return { ...made, shared, away, ran: () => ran };
}

const RARELY = { sweepMs: 60_000, sweepIdleMs: 60_000 };

test('ORC-06 a call whose row could not be read under its lease runs once that has run out', async () => {
  const { call, away, shared, workers, ran } = await start();
  away.rows = true;
  const accepted = await call({ tool_id: 'once', parameters: { n: 1 }, ...LATER });
  await until(async () =>
    (await shared.leases.find(accepted)) !== undefined && workers.size === 0 ? true : undefined,
  );
  away.rows = false;
  expect(await over(shared, accepted)).toMatchObject({ state: 'COMPLETED', fence: 2 });
  expect(ran()).toBe(1);
});

test('ORC-06 what was accepted while no lease could be had runs as soon as the store is back', async () => {
  const { call, away, shared, workers } = await start(RARELY);
  away.leases = true;
  const accepted = await call({ tool_id: 'once', parameters: { n: 1 }, ...LATER });
  await until(() => (workers.size === 0 ? true : undefined));
  await new Promise((resolve) => setTimeout(resolve, 100));
  away.leases = false;
  expect(await over(shared, accepted)).toMatchObject({ state: 'COMPLETED' });
});

test('ORC-06 a lease that could not be given back is forgotten once its call is over', async () => {
  const { call, away, shared, workers } = await start();
  const accepted = await call({ tool_id: 'once', parameters: { n: 1 }, ...LATER });
  away.rows = true;
  await until(() => (workers.size === 0 ? true : undefined));
  await over(shared, accepted);
  away.rows = false;
  await until(async () => ((await shared.leases.find(accepted)) === undefined ? true : undefined));
});
