import { expect, onTestFinished, test } from 'vitest';
import type { NativeFunction } from '../../../executors/native/native-executor.ts';
import type { SlotStore } from '../../../permission/slot-store.port.ts';
import { RunningCalls } from '../../../pipeline/ongoing/running-calls.ts';
import { SlotShare } from '../../../pipeline/ongoing/slots/slot-share.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { instance, over, sharedMemory } from '../workers.fixture.ts';

const urgent = (priority: 'low' | 'high') => ({ execution_options: { async_mode: true, priority } });

/** A tool that runs until the test ends it, or its signal is aborted. */
function held() {
  const ends: (() => void)[] = [];
  const body: NativeFunction = (_parameters, { signal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    ends.push(resolve);
    signal.addEventListener('abort', () => reject(signal.reason));
    return promise;
  };
  return { ends, body };
}

test('PIPE-08.5 a call makes way also for an urgent one of an agent whose slots this instance has to ask for first', async () => {
  // Nobody else uses slots.
  const store = {
    ...{ renew: async () => [], listen: async () => ({ [Symbol.asyncDispose]: async () => {} }) },
    ...{ release: async () => {}, leave: async () => {} },
    share: async (_owner, { running, waiting }) => ({ slots: running + waiting, othersWait: false }),
  } satisfies SlotStore;
  const clock = { now: Date.now, monotonic: () => performance.now() };
  await using share = new SlotShare({ store, instanceId: 'one', leaseMs: 60_000, clock, log: silentLog });
  await share.start();
  const parts = { running: new RunningCalls(share) };
  const shared = sharedMemory();
  const made = await instance('one', shared, { slots: 1, preemptAfterMs: 5 }, { parts });
  onTestFinished(() => made.close());
  await made.workers.start();
  const { tool, call, token } = made;
  const { ends, body } = held();
  await tool('low', body);
  const runs = (count: number) => expect.poll(() => ends.length, { timeout: 50_000 }).toBe(count);
  await tool('high', () => 'urgent');
  const first = await call({ tool_id: 'low', parameters: { n: 1 }, ...urgent('low') });
  await runs(1);
  const capability_token = await token({ agent_did: 'did:example:other' });
  const second = await call({ tool_id: 'high', parameters: { n: 1 }, ...urgent('high'), capability_token });
  expect(await over(shared, second)).toMatchObject({ state: 'COMPLETED', result: 'urgent' });
  await runs(2);
  ends[1]?.();
  expect(await over(shared, first)).toMatchObject({ state: 'COMPLETED', fence: 2 });
}, 120_000);

test('PIPE-08.5 a call makes way also for an urgent one that was approved', async () => {
  const shared = sharedMemory();
  const made = await instance('one', shared, { slots: 1, preemptAfterMs: 5 });
  onTestFinished(() => made.close());
  await made.workers.start();
  const { ends, body } = held();
  await made.tool('low', body);
  await made.tool('high', () => 'urgent');
  const runs = (count: number) => expect.poll(() => ends.length, { timeout: 50_000 }).toBe(count);
  const low = await made.call({ tool_id: 'low', parameters: { n: 1 }, ...urgent('low') });
  await runs(1);
  // Nobody was offered it, as one that waits for a person.
  const { tenantId, invocationId } = await made.accept({ tool_id: 'high', parameters: { n: 1 }, ...urgent('high') });
  await made.workers.enqueue(tenantId, invocationId);
  await runs(2);
  expect(await shared.store.findInvocation(tenantId, invocationId)).toMatchObject({ state: 'COMPLETED' });
  ends[1]?.();
  expect(await over(shared, low)).toMatchObject({ state: 'COMPLETED', fence: 2 });
}, 120_000);
