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
