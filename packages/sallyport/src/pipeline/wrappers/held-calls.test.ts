import { setImmediate } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import type { SideEffectPolicy } from '../../../api/schemas/tool-manifest.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { nonceOf } from '../../domain/invocation/record.ts';
import type { WorkerHold } from '../ongoing/worker-hold.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';

/**
 * A call that was accepted for later, and then run by a worker under a lease. `seen`: what the worker's run did, in
 * order, and with which durability rows were written.
 */
async function held(effect: SideEffectPolicy, hold: Partial<WorkerHold>, fails = false) {
  const seen: string[] = [];
  const memory = memoryLedgerStore();
  const append: typeof memory.append = async (batch, durability) => {
    // A write takes a turn of the event loop, so a run that does not wait for it continues before it is done.
    await setImmediate();
    await memory.append(batch, durability);
    for (const { state } of batch.records) seen.push(`${state} ${durability}`);
  };
  const made = await pipeline({ store: { ...memory, append }, workers: { refuses: () => undefined } });
  await made.add(manifest('tool', { side_effect_policy: effect }), () => {
    seen.push('ran');
    if (fails) throw new ToolLayerError('E3104', 'It could not be done.');
    return 'done';
  });
  const execution_options = { async_mode: true };
  const accepted = await made.call({ tool_id: 'tool', parameters: { n: 1 }, execution_options });
  const { waiting, invocationId, acceptedAt, door } = accepted;
  if (waiting === undefined) throw new Error('the call does not wait');
  seen.length = 0;
  const lease: WorkerHold = {
    fence: 1,
    slot: { free: () => undefined, without: (work) => work() },
    async begin() {
      await setImmediate();
      seen.push('begins');
      return true;
    },
    counts: () => true,
    ...hold,
  };
  const resumed = { invocationId, nonce: nonceOf(accepted), acceptedAt, waiting, hold: lease };
  const record = await made.run({ request: waiting.request, caller: { door } }, resumed);
  return { seen, record, row: await memory.findInvocation('acme', invocationId) };
}

test('ORC-06.4 a worker notes in its lease that it begins what must not run twice, and only that', async () => {
  for (const effect of ['irreversible', 'compensatable'] as const)
    expect((await held(effect, {})).seen).toEqual(['begins', 'EXECUTING synchronous', 'ran', 'COMPLETED synchronous']);
  for (const effect of ['pure', 'idempotent'] as const)
    expect((await held(effect, {})).seen).toEqual(['EXECUTING asynchronous', 'ran', 'COMPLETED synchronous']);
});

test('ORC-06 a worker whose lease is another one’s by now runs nothing and writes nothing', async () => {
  const begin = async () => false;
  const { seen, record, row } = await held('irreversible', { begin, counts: (failed) => failed?.code !== 'E3811' });
  expect(seen).toEqual([]);
  expect(record).not.toHaveProperty('result');
  expect(row).toMatchObject({ state: 'AUTHORIZED', waiting: { wait: { for: 'worker' } } });
});

test('ORC-06 an end that does not count is not written, because the call is run again; one that counts is', async () => {
  const asked: unknown[] = [];
  const counts: WorkerHold['counts'] = (failed, attempts) => {
    asked.push([failed?.code, attempts]);
    return false;
  };
  const again = await held('pure', { counts }, true);
  expect(again.seen).toEqual(['EXECUTING asynchronous', 'ran']);
  expect(new Set(asked.map(String))).toEqual(new Set(['E3104,1']));
  expect(again.row).toMatchObject({ state: 'EXECUTING' });
  const over = await held('pure', {}, true);
  expect(over.seen).toEqual(['EXECUTING asynchronous', 'ran', 'FAILED synchronous']);
  expect(over.row).toMatchObject({ state: 'FAILED', failure: { code: 'E3104' } });
});
