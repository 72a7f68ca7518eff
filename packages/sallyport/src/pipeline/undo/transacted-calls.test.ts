import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryOutcomeStore } from '../../../test/stores/outcomes/memory-outcome-store.ts';
import { memoryUndoJournal } from '../../../test/stores/outcomes/memory-undo-journal.ts';
import { type InvocationRecord, nonceOf } from '../../domain/invocation/record.ts';
import type { UndoStep } from '../../domain/invocation/undo-step.ts';
import { createCompositeExecutor } from '../../executors/composite.ts';
import type { ExecutorCall, ExecutorOutcome } from '../../executors/executor.port.ts';
import { createNativeExecutor } from '../../executors/native/native-executor.ts';
import { manifest, pipeline, retries } from '../pipeline.fixture.ts';
import { recoverOpenCalls } from '../record/recover.ts';
import { continueRollbacks } from './continue-rollbacks.ts';

const UNSAFE = { side_effect_policy: 'irreversible' } as const;

/** A layer with one tool that sets a value in a transaction, and then runs `then`. */
async function layer(then: (call: ExecutorCall, signal: AbortSignal) => Promise<ExecutorOutcome['result']>, more = {}) {
  let value = 'old';
  const journal = memoryUndoJournal();
  const broken = { yes: false };
  const undone: string[] = [];
  const undoers = {
    value: {
      async undo({ before }: UndoStep): Promise<void> {
        if (broken.yes) throw new Error('cannot');
        value = String(before);
        undone.push(value);
      },
    },
  };
  const native = createNativeExecutor();
  const execute = async (call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> => {
    await call.undo?.record({ kind: 'value', before: value });
    value = `new ${call.attempt}`;
    const result = await then(call, signal);
    return { result, usage: { cpuMillicoreSeconds: 0, memoryPeakMb: 0, networkBytesSent: 0, networkBytesReceived: 0 } };
  };
  const store = memoryLedgerStore();
  const transactions = { journal, checkpoints: memoryCheckpointStore(), undoers };
  const quick = { ...retries, jitter: 'none', attemptsMax: 3, budgetMs: 1000 } as const;
  const executors = createCompositeExecutor([{ ...native, execute }]);
  const outcomes = memoryOutcomeStore(store);
  const workers = { refuses: () => undefined };
  const made = await pipeline({ store, executors, transactions, outcomes, retries: quick, workers });
  const execution_config = { default_timeout_seconds: 0.3, retry_policy: { base_delay_ms: 1 } };
  await made.add(manifest('set', { ...UNSAFE, execution_config, ...more }), () => 1);
  const run = (more = {}) => made.call({ tool_id: 'set', parameters: { n: 1 }, ...more });
  return { ...made, run, again: made.run, journal, transactions, broken, undone, outcomes, value: () => value };
}

const fails = async (): Promise<never> => {
  throw new ToolLayerError('E3108', 'It failed.');
};
const hangs = (_call: unknown, signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

describe('a call that changes state', () => {
  test('PIPE-03 that ends well keeps it, and its journal is closed once that is on record', async () => {
    const { run, value, journal } = await layer(async () => 'done');
    const record = await run();
    expect(record).toMatchObject({ state: 'COMPLETED', result: 'done' });
    expect(value()).toBe('new 1');
    await expect.poll(() => journal.find('acme', record.invocationId)).toBeUndefined();
  });

  test('AUD-01.7 PIPE-03.2 PIPE-03.4 that fails, is aborted, or answers badly has not changed it, and says so in the audit', async () => {
    const result_schema = { type: 'object', required: ['x'] };
    const cases = [
      [fails, {}, 'E3108'],
      [hangs, {}, 'E3103'],
      [async () => ({}), { result_schema }, 'E3506'],
    ] as const;
    for (const [then, more, code] of cases) {
      const { run, value, eventsOf, journal } = await layer(then, more);
      const record = await run();
      expect(record).toMatchObject({ state: 'ROLLED_BACK', failure: { code } });
      expect(value()).toBe('old');
      expect((await eventsOf(record.invocationId)).at(-1)).toMatchObject({ type: 'ai.agent.tool.rolled_back' });
      await expect.poll(() => journal.find('acme', record.invocationId)).toBeUndefined();
    }
  });

  test('PIPE-03 PIPE-05 begins each attempt with the state as it was', async () => {
    const seen: string[] = [];
    const { run, value } = await layer(
      async (call) => {
        seen.push(value());
        if (call.attempt === 1) throw new ToolLayerError('E3310', 'Gone.');
        return 'done';
      },
      { side_effect_policy: 'idempotent' },
    );
    expect(await run()).toMatchObject({ state: 'COMPLETED', metadata: { attempts: 2 } });
    expect(seen).toEqual(['new 1', 'new 2']);
    expect(value()).toBe('new 2');
  });

  test('PIPE-03 PIPE-05 makes no other attempt where the changes of the failed one could not be taken back', async () => {
    const gone = () => Promise.reject(new ToolLayerError('E3310', 'Gone.'));
    const { run, broken } = await layer(gone, { side_effect_policy: 'idempotent' });
    broken.yes = true;
    expect(await run()).toMatchObject({
      failure: { code: 'E3804', details: { rollback: 'failed' } },
      metadata: { attempts: 1 },
    });
  });

  test('PIPE-03 PIPE-13 whose changes cannot be taken back ends as outcome unknown, and the next start goes on', async () => {
    const made = await layer(fails);
    const { run, value, broken, outcomes, parts, store, eventsOf } = made;
    broken.yes = true;
    const record = await run();
    expect(record).toMatchObject({
      state: 'ABORTED',
      failure: { code: 'E3804', details: { rollback: 'failed', failed_with: 'E3108' } },
    });
    const goOn = () => continueRollbacks({ ...parts, transactions: made.transactions, outcomes }, 'one');
    expect(await goOn()).toEqual({ rolledBack: 0, left: 1 });
    broken.yes = false;
    expect(await goOn()).toEqual({ rolledBack: 1, left: 0 });
    expect(await goOn()).toEqual({ rolledBack: 0, left: 0 });
    expect(value()).toBe('old');
    expect(await outcomes.find('acme', record.invocationId)).toMatchObject({
      outcome: 'did_not_happen',
      how: 'rollback',
    });
    expect(await store.findInvocation('acme', record.invocationId)).toMatchObject({ state: 'ABORTED' });
    expect((await eventsOf(record.invocationId)).at(-1)).toMatchObject({ type: 'ai.agent.tool.rolled_back' });
  });

  test('PIPE-09.3 PIPE-13.1 PIPE-13.3 whose rollback succeeds at a later try frees its key, and the row of the next call says why', async () => {
    let fault = fails as () => Promise<string>;
    const made = await layer(() => fault());
    const { broken, outcomes, parts, store } = made;
    const ask = () => made.run({ execution_options: { idempotency_key: 'k' } });
    broken.yes = true;
    const first = await ask();
    expect(await ask()).toMatchObject({ invocationId: first.invocationId, failure: { code: 'E3804' } });
    broken.yes = false;
    fault = async () => 'done';
    await continueRollbacks({ ...parts, transactions: made.transactions, outcomes }, 'one');
    const second = await ask();
    expect(second).toMatchObject({ state: 'COMPLETED', result: 'done' });
    expect(second.invocationId).not.toBe(first.invocationId);
    expect(await store.findInvocation('acme', second.invocationId)).toMatchObject({
      warnings: [{ code: 'outcome_settled', details: { invocation_id: first.invocationId, how: 'rollback' } }],
    });
    expect(await store.findInvocation('acme', first.invocationId)).toMatchObject({ failure: { code: 'E3804' } });
  });
});

describe('after a crash', () => {
  test('PIPE-03 ORC-06 what was left half made is taken back, what is on record as completed stays', async () => {
    const made = await layer(async () => 'done');
    const { journal, parts, store, outcomes, transactions, value } = made;
    const done = await made.run();
    const step = { kind: 'value', before: 'old' };
    const left = { tenantId: 'acme', instanceId: 'one', position: 0, step };
    await expect.poll(() => journal.find('acme', done.invocationId)).toBeUndefined();
    await journal.add({ ...left, invocationId: done.invocationId });
    const { result: _result, ...row } = done;
    const own = '"state":"EXECUTING"';
    const heldEvents = { shared: '', each: [{ id: 'e', type: 'ai.agent.tool.invoked', time: 1, own }] } as const;
    const cut: InvocationRecord = { ...row, invocationId: 'cut', state: 'EXECUTING', heldEvents };
    await store.append({ records: [cut], events: [] }, 'synchronous');
    await journal.add({ ...left, invocationId: 'cut', step: { ...step, before: 'older' } });
    await journal.add({ ...left, invocationId: 'other', instanceId: 'two' });
    expect((await continueRollbacks({ ...parts, transactions, outcomes }, 'one')).rolledBack).toBe(1);
    expect(value()).toBe('older');
    expect(await store.findInvocation('acme', 'cut')).toMatchObject({
      state: 'ROLLED_BACK',
      failure: { code: 'E3811' },
    });
    expect(await store.findInvocation('acme', 'cut')).not.toHaveProperty('heldEvents');
    expect((await made.eventsOf('cut')).map(({ data }) => data['state'])).toEqual(['EXECUTING', 'ROLLED_BACK']);
    expect(await store.findInvocation('acme', done.invocationId)).toMatchObject({ state: 'COMPLETED' });
    expect(await recoverOpenCalls(parts, 'one')).toBe(0);
    expect((await journal.open('one', 10)).length).toBe(0);
    expect((await journal.open('two', 10)).length).toBe(1);
  });
});

describe('PIPE-03 a call that a worker runs again after it was cut off', () => {
  const later = { execution_options: { async_mode: true } };

  /** A call whose first run stopped after its change, and how a worker runs it again. */
  async function cutOff() {
    const seen: unknown[] = [];
    const made: Awaited<ReturnType<typeof layer>> = await layer(
      async () => {
        const { steps = [] } = (await made.journal.find('acme', invocationId)) ?? {};
        seen.push([made.value(), ...steps.map(({ undone }) => undone)]);
        return 'done';
      },
      { side_effect_policy: 'idempotent' },
    );
    const accepted = await made.run(later);
    const { waiting, invocationId, acceptedAt, door } = accepted;
    if (waiting === undefined) throw new Error('the call does not wait');
    const step = { kind: 'value', before: 'before the cut' };
    await made.journal.add({ tenantId: 'acme', invocationId, instanceId: 'one', position: 0, step });
    const resumed = { invocationId, nonce: nonceOf(accepted), acceptedAt, waiting };
    const again = (more = {}) => made.again({ request: waiting.request, caller: { door } }, { ...resumed, ...more });
    return { ...made, invocationId, seen, again };
  }

  test('begins with the state as it was before its first run', async () => {
    const { again, seen, journal, invocationId, undone } = await cutOff();
    expect(await again({ cutOff: true })).toMatchObject({ state: 'COMPLETED', result: 'done' });
    expect(undone).toEqual(['before the cut']);
    // Its own change stands in the journal, and not that of the first run.
    expect(seen).toEqual([['new 1', false]]);
    await expect.poll(() => journal.find('acme', invocationId)).toBeUndefined();
  });

  test('does not run when its first run cannot be taken back, and its outcome is unknown', async () => {
    const { again, seen, broken, journal, invocationId } = await cutOff();
    broken.yes = true;
    expect(await again({ cutOff: true })).toMatchObject({
      state: 'ABORTED',
      failure: { code: 'E3804', details: { rollback: 'failed' } },
    });
    expect(seen).toEqual([]);
    expect(await journal.find('acme', invocationId)).toMatchObject({ steps: [{ undone: false }] });
  });
});

test('PIPE-03 a change that another tool takes back is taken back by a call through the same pipeline', async () => {
  const { add, call } = await pipeline();
  const taken: unknown[] = [];
  await add(manifest('unbook', UNSAFE), ({ n }) => void taken.push(n));
  await add(manifest('book', UNSAFE), async (_given, { compensateWith }) => {
    await compensateWith('unbook', { n: 7 });
    throw new ToolLayerError('E3109', 'It failed.');
  });
  expect(await call({ tool_id: 'book', parameters: { n: 1 } })).toMatchObject({ state: 'ROLLED_BACK' });
  expect(taken).toEqual([7]);
});
