import { systemClock } from '@sallyport/std/clock';
import { expect, test } from 'vitest';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryObjectStore } from '../../../test/stores/outcomes/memory-object-store.ts';
import { silentLog } from '../../telemetry/log.ts';
import { createCheckpoints } from '../checkpoints.ts';
import { CHECKPOINT_DEFAULTS, noListener } from './runs.fixture.ts';

/** Resolves when a timer with this period would have run so often. */
const turnsOf = async (periodMs: number, times: number): Promise<void> => {
  for (let turn = 0; turn < times; turn += 1) await new Promise((over) => setTimeout(over, periodMs));
};

test('STA-01.4 the layer takes a state that has changed, one at a time, goes on after a fault, and ends with the run', async () => {
  const mayStore = Promise.withResolvers<void>();
  const asked: number[] = [];
  const logged: string[] = [];
  let step = 0;
  let fault: Error | undefined;
  const store = memoryCheckpointStore();
  const checkpoints = createCheckpoints({
    store: { ...store, put: (one) => mayStore.promise.then(() => store.put(one)) },
    archive: store,
    objects: memoryObjectStore(),
    clock: systemClock,
    log: { ...silentLog, warn: (event) => void logged.push(event) },
    settings: { ...CHECKPOINT_DEFAULTS, intervalMs: 1 },
    listener: noListener,
  });
  const open = checkpoints.ofRun({
    invocationId: 'call',
    owner: { tenantId: 'acme', agentDid: 'did:example:a' },
    toolId: 'work',
    toolVersion: '1.0.0',
    onSaved: () => {},
  });
  open.ofAttempt().onTimer(() => {
    asked.push(step);
    if (fault !== undefined) throw fault;
    return { step };
  });
  await turnsOf(1, 5);
  // The first one is still being stored.
  expect(asked).toEqual([0]);
  mayStore.resolve();
  const steps = async () => (await checkpoints.list('acme', 'call', 9)).length;
  await expect.poll(() => asked.length, { interval: 1 }).toBeGreaterThan(3);
  expect(await steps()).toBe(1);
  fault = new Error('not now');
  await expect.poll(() => logged, { interval: 1 }).toContain('checkpoint-not-saved');
  fault = undefined;
  step = 1;
  await expect.poll(steps, { interval: 1 }).toBe(2);
  open.close();
  const late = open.ofAttempt();
  open.close();
  late.onTimer(() => ({ step: 2 }));
  asked.length = 0;
  await turnsOf(1, 5);
  expect([asked, await steps()]).toEqual([[], 2]);
});
