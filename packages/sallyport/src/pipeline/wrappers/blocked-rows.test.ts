import { failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import { type InvocationRecord, nonceOf } from '../../domain/invocation/record.ts';
import type { ApprovalQuestions } from '../approval-questions.port.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';

/** Approvals that number their questions. */
function questions(): ApprovalQuestions {
  let asked = 0;
  return {
    standing: () => undefined,
    question({ reason, binding }) {
      asked += 1;
      return { approvalId: `approval-${asked}`, reason, binding, requestedAt: 1, expiresAt: 4_102_444_800_000 };
    },
  };
}

/**
 * A layer whose store can lose the claim of a call: then another call has written its row under the same id by the time
 * that this one writes a row of the given state.
 */
async function layer(intrudes?: InvocationRecord['state']) {
  const memory = memoryLedgerStore();
  const store: LedgerStore = {
    ...memory,
    async append(batch, durability) {
      const mine = batch.records.find(({ state, invocationId }) => state === intrudes && invocationId === 'chosen');
      const isFirst = mine !== undefined && (await memory.findInvocation('acme', 'chosen')) === undefined;
      if (isFirst) await memory.append({ events: [], records: [{ ...mine, nonce: 'another' }] }, 'synchronous');
      await memory.append(batch, durability);
    },
  };
  const made = await pipeline({ store, approvalQuestions: questions(), workers: { refuses: () => undefined } });
  const ran: unknown[] = [];
  const body = (parameters: unknown) => void ran.push(parameters);
  await made.add(manifest('pay', { side_effect_policy: 'irreversible' }), body);
  await made.add(manifest('read'), body);
  await made.add(manifest('ask', { requires_confirmation: true }), body);
  const call = (tool_id: string, invocation_id?: string) =>
    made.call({ tool_id, parameters: { n: 1 }, ...(invocation_id === undefined ? {} : { invocation_id }) });
  return { ...made, memory, ran, call };
}

const statesOf = async ({ eventsOf }: Awaited<ReturnType<typeof layer>>, invocationId: string) =>
  (await eventsOf(invocationId)).map(({ data }) => data['state']);

describe('the row of a call whose id another call took, after the database lost its claim', () => {
  test('PIPE-09 before the tool runs: it does not run, and is on record under an id of its own', async () => {
    const made = await layer('EXECUTING');
    const record = await made.call('pay', 'chosen');
    expect(record).toMatchObject({ state: 'ABORTED', failure: { code: 'E3811' } });
    expect(made.ran).toEqual([]);
    expect(record.invocationId).not.toBe('chosen');
    expect(await made.memory.findInvocation('acme', record.invocationId)).toMatchObject({ state: 'ABORTED' });
    expect(await statesOf(made, record.invocationId)).toEqual([
      'DECLARED',
      'VALIDATED',
      'AUTHORIZED',
      'EXECUTING',
      'ABORTED',
    ]);
    expect(await made.memory.findInvocation('acme', 'chosen')).toMatchObject({ nonce: 'another', state: 'EXECUTING' });
    expect(await statesOf(made, 'chosen')).toEqual([]);
  });

  test('PIPE-09 at its end: the answer is not given, since it is not on record, and may be asked for again', async () => {
    const made = await layer('COMPLETED');
    const record = await made.call('read', 'chosen');
    expect(record).toMatchObject({ invocationId: 'chosen', state: 'FAILED', failure: { code: 'E3811' } });
    expect(record).not.toHaveProperty('result');
    expect(await made.memory.findInvocation('acme', 'chosen')).toMatchObject({ nonce: 'another' });
  });

  test('ORC-06.3 while it is set aside: its caller does not learn that it waits, because it does not', async () => {
    const made = await layer('AUTHORIZED');
    const record = await made.call('ask', 'chosen');
    expect(record).toMatchObject({ invocationId: 'chosen', state: 'FAILED', failure: { code: 'E3811' } });
    expect(record).not.toHaveProperty('waiting');
    expect(await made.memory.findInvocation('acme', 'chosen')).toMatchObject({ nonce: 'another' });
  });
});

describe('the row of a waiting call that another run of it has written under a later lease', () => {
  const resumedOnce = async (isReadable: boolean) => {
    const made = await layer();
    const waiting = await made.call('ask');
    await made.memory.fenceInvocation('acme', waiting.invocationId, 1);
    const findInvocation: LedgerStore['findInvocation'] = (...given) =>
      isReadable ? made.memory.findInvocation(...given) : Promise.reject(new Error('unreachable'));
    const again = await pipeline({
      ...made.parts,
      store: made.store,
      records: { ...made.store, findInvocation },
    });
    const { waiting: parked, invocationId, acceptedAt, door } = waiting;
    if (parked === undefined) throw new Error('the call does not wait');
    const resumed = { invocationId, nonce: nonceOf(waiting), acceptedAt, waiting: parked };
    return { waiting, record: await again.run({ request: parked.request, caller: { door } }, resumed), ...made };
  };

  test('ORC-06 stands, and is the answer: the run that came too late asks nobody anew', async () => {
    const { waiting, record, memory } = await resumedOnce(true);
    expect(record).toMatchObject({
      state: 'AUTHORIZED',
      waiting: { wait: { approval: { approvalId: 'approval-1' } } },
    });
    const row = await memory.findInvocation('acme', waiting.invocationId);
    expect(row).toMatchObject({ waiting: { wait: { approval: { approvalId: 'approval-1' } } } });
  });

  test('ORC-06 is not guessed at when it cannot be read: the answer is an error', async () => {
    const { record } = await resumedOnce(false);
    expect(record).toMatchObject({ state: 'FAILED', failure: { code: 'E3811' } });
  });
});

/** A layer whose store does something else than to write the row of a call in the given state. */
async function interrupted(
  state: InvocationRecord['state'],
  instead: (row: InvocationRecord, write: () => Promise<void>, memory: LedgerStore) => Promise<void>,
) {
  const memory = memoryLedgerStore();
  const store: LedgerStore = {
    ...memory,
    append(batch, durability) {
      const row = batch.records.find((each) => each.state === state);
      const write = () => memory.append(batch, durability);
      return row === undefined ? write() : instead(row, write, memory);
    },
  };
  const made = await pipeline({ store });
  let ran = 0;
  const body = () => {
    ran += 1;
    if (state === 'FAILED') throw new ToolLayerError('E3108', 'It failed.');
    return 'done';
  };
  await made.add(manifest('pay', { side_effect_policy: 'irreversible' }), body);
  const record = await made.call({ tool_id: 'pay', parameters: { n: 1 }, invocation_id: 'chosen' });
  return { ...made, memory, record, ran: () => ran };
}

test('ORC-06.4 a call whose row the store does not take before it runs does not run, and keeps its id', async () => {
  const { record, ran, memory } = await interrupted('EXECUTING', () => Promise.reject(new Error('the disk is full')));
  expect(record).toMatchObject({ invocationId: 'chosen', state: 'FAILED', failure: { code: 'E3812' } });
  expect(ran()).toBe(0);
  expect(await memory.findInvocation('acme', 'chosen')).toMatchObject({ failure: { code: 'E3812' } });
});

describe('the row of a call that was settled while its tool ran', () => {
  const taken = () => Promise.reject(new ToolLayerError('E3802', 'The row is taken.'));

  test('PIPE-13 is the answer when it says another end: nobody gets an answer that is not on record', async () => {
    const lost = { state: 'ABORTED', failure: failure('E3804', 'The layer ended.') } as const;
    const other = { state: 'FAILED', failure: failure('E3104', 'Another.') } as const;
    for (const [state, end] of [
      ['COMPLETED', lost],
      ['FAILED', other],
      ['COMPLETED', { state: 'EXECUTING' }],
      ['FAILED', { state: 'COMPLETED' }],
    ] as const) {
      const { record } = await interrupted(state, async (row, _write, memory) => {
        const { failure: _failure, result: _result, ...started } = row;
        await memory.append({ events: [], records: [{ ...started, ...end }] }, 'synchronous');
        return taken();
      });
      expect(record).toMatchObject(end);
      expect(record).not.toHaveProperty('result');
      expect(record.failure?.code).toBe('failure' in end ? end.failure.code : undefined);
    }
  });

  test('PIPE-13 is its own when it says the same end: the answer has its result', async () => {
    const { record } = await interrupted('COMPLETED', async (_row, write) => {
      await write();
      return taken();
    });
    expect(record).toMatchObject({ state: 'COMPLETED', result: 'done' });
  });
});
