import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SideEffectPolicy } from '../../../api/schemas/tool-manifest.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import { createCompositeExecutor } from '../../executors/composite.ts';
import type { Executor } from '../../executors/executor.port.ts';
import { createNativeExecutor } from '../../executors/native/native-executor.ts';
import { silentLog } from '../../telemetry/log.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { type CallEnd, createLateEnds } from '../record/late-ends.ts';

const workers = { refuses: () => undefined };
const request = { tool_id: 'pay', parameters: { n: 1 } };

/** A pipeline whose store takes writes, and loses its answers until it can be asked what it holds. */
async function deaf(unreadable: number) {
  const memory = memoryLedgerStore();
  let isDeaf = false;
  const store: typeof memory = {
    ...memory,
    async append(batch, durability) {
      await memory.append(batch, durability);
      if (isDeaf) throw new Error('the answer was lost');
    },
    async chainHead(chainId) {
      if (isDeaf && unreadable > 0) {
        unreadable -= 1;
        throw new Error('unreachable');
      }
      isDeaf = false;
      return memory.chainHead(chainId);
    },
  };
  const made = await pipeline({ store, workers });
  for (const policy of ['irreversible', 'idempotent'] as const)
    await made.add(manifest(policy, { side_effect_policy: policy }), () => 1);
  const accept = (tool_id: string): Promise<InvocationRecord> => {
    isDeaf = true;
    return made.call({ tool_id, parameters: { n: 1 }, execution_options: { async_mode: true } });
  };
  return { ...made, accept };
}

test('PIPE-07 ORC-06 a call that was accepted by a write whose answer was lost is not said to have failed', async () => {
  const { accept, store, everyEventOf } = await deaf(1);
  const record = await accept('irreversible');
  const row = await store.findInvocation('acme', record.invocationId);
  expect([record.state, record.failure, row?.state]).toEqual(['AUTHORIZED', undefined, 'AUTHORIZED']);
  const states = (await everyEventOf(record.invocationId)).map(({ data }) => data['state']);
  expect(states).toEqual(['DECLARED', 'VALIDATED', 'AUTHORIZED']);
});

test('PIPE-13 while the store cannot say whether it has the call, one that may not run twice is not to be made again', async () => {
  for (const [policy, code] of [
    ['irreversible', 'E3804'],
    ['idempotent', 'E3812'],
  ] as const) {
    const { accept } = await deaf(Number.POSITIVE_INFINITY);
    let now = 0;
    // The time for which the store is asked again is over at once.
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 60_000));
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await accept(policy)).toMatchObject({ state: 'FAILED', failure: { code } });
    vi.restoreAllMocks();
  }
});

/** A tool whose server begins a task for each call, and a store that is away when that is to be put on record. */
async function withServerTask(policy: SideEffectPolicy, patienceMs: number) {
  const store = memoryLedgerStore();
  const { ledger: inner } = (await pipeline({ store })).parts;
  let isAway = true;
  const ledger = {
    ...inner,
    async commit(entry: CallEnd) {
      if (isAway && entry.record.waiting !== undefined) throw new ToolLayerError('E3812', 'away');
      await inner.commit(entry);
    },
  };
  const lateEnds = createLateEnds({ ledger, records: store, log: silentLog, patienceMs });
  const execute: Executor['execute'] = async ({ onServerTask }) => {
    expect(await onServerTask?.({ taskId: 'task' })).toBe('later');
    return { result: undefined, later: true, usage: NO_USAGE };
  };
  const executors = createCompositeExecutor([{ ...createNativeExecutor(), execute }]);
  const made = await pipeline({ store, ledger: ledger as never, lateEnds, executors, workers });
  await made.add(manifest('pay', { side_effect_policy: policy }), () => 1);
  return {
    lateEnds,
    call: () => made.call({ ...request, invocation_id: 'one' }, { door: 'mcp', takesTasks: true }),
    row: () => store.findInvocation('acme', 'one'),
    back: () => {
      isAway = false;
    },
  };
}

describe('a call that its server runs on as a task, and whose task cannot be put on record at once', () => {
  test('ORC-06 is continued once the store is back', async () => {
    const { lateEnds, call, row, back } = await withServerTask('irreversible', 60_000);
    await using _late = lateEnds;
    const running = call();
    await expect.poll(() => lateEnds.size, { timeout: 50_000 }).toBe(1);
    back();
    const waits = { state: 'EXECUTING', waiting: { serverTask: { taskId: 'task' } } };
    expect(await running).toMatchObject(waits);
    expect(await row()).toMatchObject(waits);
  }, 120_000);

  test('PIPE-13 is not said to have run nothing', async () => {
    for (const [policy, code] of [
      ['irreversible', 'E3804'],
      ['idempotent', 'E3811'],
    ] as const) {
      const { lateEnds, call } = await withServerTask(policy, 1);
      await using _late = lateEnds;
      expect(await call()).toMatchObject({ state: 'FAILED', failure: { code } });
    }
  });
});
