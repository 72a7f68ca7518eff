import { isFailure } from '@sallyport/std/error/failure';
import { sha256 } from '@sallyport/std/sha256';
import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { openLedger } from '../../audit/ledger.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Log } from '../../telemetry/log.ts';
import { silentLog } from '../../telemetry/log.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { storedAnswer } from './stored-answer.ts';

const changedAnswer = async (...given: Parameters<typeof storedAnswer>) => {
  const answer = await storedAnswer(...given);
  return isFailure(answer) ? answer : undefined;
};

const keyed = { tool_id: 'pay', parameters: { n: 1 }, execution_options: { idempotency_key: 'k' } };

/** A tool that ran once under an idempotency key, and functions that change the stored rows afterwards. */
async function paid(bytes = 3) {
  const store = memoryLedgerStore();
  let change = (record: InvocationRecord): InvocationRecord => record;
  const records: LedgerStore = {
    ...store,
    findInvocation: async (tenantId, invocationId) => {
      const record = await store.findInvocation(tenantId, invocationId);
      return record && change(record);
    },
  };
  const logged: unknown[] = [];
  const log: Log = { ...silentLog, error: (event, fields) => void logged.push({ event, ...fields }) };
  const made = await pipeline({ store, records, log });
  let runs = 0;
  await made.add(manifest('pay', { side_effect_policy: 'irreversible' }), async () => {
    runs += 1;
    return { paid: 'x'.repeat(bytes) };
  });
  const first = await made.call(keyed);
  return {
    ...made,
    first,
    logged,
    runs: () => runs,
    tamper(to: typeof change) {
      change = to;
    },
  };
}

test.each<[string, (record: InvocationRecord) => InvocationRecord]>([
  ['result', (record) => ({ ...record, result: { paid: 'yyy' } })],
  ['result and its hash', (record) => ({ ...record, result: 1, outputHash: '6b86b273ff34fce1' })],
  ['end', (record) => ({ ...record, state: 'FAILED' })],
  ['tool', (record) => ({ ...record, toolId: 'other' })],
])(
  'PIPE-09 AUD-07 a stored answer whose %s was changed is not given to a duplicate, and the log says so',
  async (_, to) => {
    const { call, first, tamper, logged, runs } = await paid();
    expect(await call(keyed)).toMatchObject({ invocationId: first.invocationId, result: { paid: 'xxx' } });
    expect(logged).toEqual([]);
    tamper(to);
    const duplicate = await call(keyed);
    expect(duplicate).toMatchObject({
      state: 'FAILED',
      failure: { code: 'E3820', details: { invocation_id: first.invocationId } },
    });
    expect(duplicate.result).toBeUndefined();
    const of = { tenant_id: 'acme', invocation_id: first.invocationId };
    expect(logged).toContainEqual({ event: 'stored-answer-changed', ...of, reason: expect.any(String) });
    expect(runs()).toBe(1);
  },
);

test('PIPE-09 AUD-07 a result that was cut is given to a duplicate as it was kept, and not when that was changed', async () => {
  const { call, first, tamper } = await paid(20_000);
  expect(first).toMatchObject({ result: { truncated: true } });
  expect((await call(keyed)).result).toEqual(first.result);
  tamper((record) => ({ ...record, result: { ...(record.result as object), preview: 'forged' } }));
  expect((await call(keyed)).failure?.code).toBe('E3820');
});

test('PIPE-13 AUD-07 a settled outcome is told with the result of which the audit has the hash, and with no other', async () => {
  const records = memoryLedgerStore();
  const ledger = await openLedger({ store: records, chainId: 'one', log: silentLog });
  const call = {
    invocationId: 'i',
    tenantId: 'acme',
    agentDid: 'a',
    toolId: 'pay',
    door: 'rest',
    instanceId: 'one',
  } as const;
  const row: InvocationRecord = { ...call, state: 'ABORTED', warnings: [], acceptedAt: 1 };
  const event = (type: 'ai.agent.tool.failed' | 'ai.agent.tool.outcome_settled', data: object) => ({
    id: JSON.stringify(data),
    type,
    time: 1,
    tenantId: 'acme',
    data: { invocation_id: 'i', ...data },
  });
  const states = ['DECLARED', 'ABORTED'].map((state) => event('ai.agent.tool.failed', { state }));
  await ledger.commit({ record: row, events: states, durability: 'synchronous' });
  const answered = (result: unknown) =>
    changedAnswer({ records, log: silentLog }, row, { ...row, state: 'COMPLETED', result });
  // A settlement is stored before its event is written.
  expect(await answered('paid')).toBeUndefined();
  const settled = event('ai.agent.tool.outcome_settled', { output_hash: sha256('"paid"') });
  await ledger.commit({ events: [settled], durability: 'synchronous' });
  expect(await answered('paid')).toBeUndefined();
  expect(await answered(undefined)).toBeUndefined();
  expect(await answered('not paid')).toMatchObject({ code: 'E3820' });
  const again = event('ai.agent.tool.outcome_settled', { output_hash: sha256('"paid twice"') });
  await ledger.commit({ events: [again], durability: 'synchronous' });
  expect(await answered('paid')).toBeUndefined();
});

test('PIPE-09 AUD-07 events of other calls, which the store found too, say nothing about a stored answer', async () => {
  const { first, store } = await paid();
  const own = await store.eventsAbout([first]);
  const changedWith = (others: typeof own) =>
    changedAnswer({ records: { eventsAbout: async () => [...own, ...others] }, log: silentLog }, first, first);
  const of = (tenantid: string, invocation_id: string) =>
    own.map((event) => ({ ...event, tenantid, data: { ...event.data, invocation_id, output_hash: 'another' } }));
  expect(await changedWith(of('acme', 'another'))).toBeUndefined();
  expect(await changedWith(of('other', first.invocationId))).toBeUndefined();
  expect(await changedWith(of('acme', first.invocationId))).toMatchObject({ code: 'E3820' });
  // The row of a call that runs has no answer to compare.
  const running = { ...first, state: 'EXECUTING' } as const;
  expect(await changedAnswer({ records: store, log: silentLog }, running, running)).toBeUndefined();
});
