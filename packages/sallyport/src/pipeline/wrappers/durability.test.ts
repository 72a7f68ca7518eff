import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import type { SideEffectPolicy } from '../../../api/schemas/tool-manifest.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { nonceOf } from '../../domain/invocation/record.ts';
import { decisionsOf } from '../../permission/gates/gates.fixture.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';

const FORBIDDING = decisionsOf({
  ...{ name: 'forbidding', version: () => '1' },
  decide: () => ({ allowed: false, policies: ['p'] }),
});

/**
 * The order in which rows were written, the tool ran and the caller was answered, with the durability of each write.
 */
async function order(
  effect: SideEffectPolicy,
  options: NonNullable<ToolInvokeRequest['execution_options']> = {},
  changes: Parameters<typeof pipeline>[0] = {},
): Promise<string[]> {
  return (await called(effect, options, changes)).seen;
}

async function called(
  effect: SideEffectPolicy,
  options: NonNullable<ToolInvokeRequest['execution_options']>,
  changes: Parameters<typeof pipeline>[0] = {},
) {
  const seen: string[] = [];
  const memory = memoryLedgerStore();
  const append: typeof memory.append = async (batch, durability) => {
    // A write takes a turn of the event loop, so a caller who does not wait for it continues before it is done.
    await setImmediate();
    await memory.append(batch, durability);
    for (const { state } of batch.records) seen.push(`${state} ${durability}`);
  };
  const made = await pipeline({ store: { ...memory, append }, workers: { refuses: () => undefined }, ...changes });
  await made.add(manifest('tool', { side_effect_policy: effect }), () => {
    seen.push('ran');
  });
  const record = await made.call({ tool_id: 'tool', parameters: { n: 1 }, execution_options: options });
  seen.push('answered');
  return { ...made, seen, record };
}

test('ORC-06.4 AUD-02.1 a call that must not run twice is on the disk before it runs, and its end before the answer', async () => {
  for (const effect of ['irreversible', 'compensatable'] as const)
    expect(await order(effect)).toEqual(['EXECUTING synchronous', 'ran', 'COMPLETED synchronous', 'answered']);
});

test('ORC-06.4 a call with a key is on the disk before it runs, whatever it leaves behind', async () => {
  for (const effect of ['pure', 'idempotent', 'irreversible'] as const)
    expect(await order(effect, { idempotency_key: 'k' })).toEqual([
      'EXECUTING synchronous',
      'ran',
      'COMPLETED synchronous',
      'answered',
    ]);
});

test('a call that may run again waits for no disk before it runs', async () => {
  expect(await order('idempotent')).toEqual(['EXECUTING asynchronous', 'ran', 'COMPLETED synchronous', 'answered']);
  expect(await order('pure')).toEqual(['ran', 'COMPLETED asynchronous', 'answered']);
});

test('ORC-06.3 a call that was accepted for later is on the disk before the answer', async () => {
  expect(await order('pure', { async_mode: true })).toEqual(['AUTHORIZED synchronous', 'answered']);
});

test('ORC-06.3 a call that a worker runs says so in its row before it runs, and its end waits for the disk', async () => {
  for (const [effect, durability] of [
    ['pure', 'asynchronous'],
    ['idempotent', 'asynchronous'],
    ['irreversible', 'synchronous'],
  ] as const) {
    const { run, seen, record } = await called(effect, { async_mode: true });
    const { waiting, invocationId, acceptedAt, door } = record;
    if (waiting === undefined) throw new Error('the call does not wait');
    const resumed = { invocationId, nonce: nonceOf(record), acceptedAt, waiting };
    await run({ request: waiting.request, caller: { door } }, resumed);
    expect(seen.slice(2)).toEqual([`EXECUTING ${durability}`, 'ran', 'COMPLETED synchronous']);
  }
});

test('STA-02 a call that continues from a checkpoint says in its row that it runs, and its end waits for the disk', async () => {
  const { seen, add, call } = await called('pure', {});
  await add(manifest('saves'), async (_parameters, { checkpoints }) => {
    await checkpoints.save({ step: 1 });
    seen.push('ran');
    if (checkpoints.restored === undefined) throw new Error('It stops here.');
  });
  const { metadata } = await call({ tool_id: 'saves', parameters: { n: 1 } });
  const resume_from_checkpoint_id = metadata?.checkpoints_created[0]?.checkpoint_id ?? '';
  seen.length = 0;
  await call({ tool_id: 'saves', parameters: { n: 1 }, checkpoint_config: { resume_from_checkpoint_id } });
  expect(seen).toEqual(['EXECUTING asynchronous', 'ran', 'COMPLETED synchronous']);
});

test('AUD-02.1 a denial is on the disk before the answer', async () => {
  expect(await order('pure', {}, { policy: FORBIDDING })).toEqual(['DENIED synchronous', 'answered']);
});

test('PIPE-06 a call that is cancelled while its row is written does not run', async () => {
  const controller = new AbortController();
  const memory = memoryLedgerStore();
  const append: typeof memory.append = async (batch, durability) => {
    await memory.append(batch, durability);
    if (batch.records.some(({ state }) => state === 'EXECUTING')) controller.abort();
  };
  const made = await pipeline({ store: { ...memory, append } });
  let ran = false;
  await made.add(manifest('tool', { side_effect_policy: 'irreversible' }), () => {
    ran = true;
  });
  const record = await made.call({ tool_id: 'tool', parameters: { n: 1 } }, { signal: controller.signal });
  expect(record).toMatchObject({ state: 'ABORTED', failure: { code: 'E3805' } });
  expect(ran).toBe(false);
});
