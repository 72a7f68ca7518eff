import { failure, isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { memoryCompensationStore } from '../../../test/stores/outcomes/memory-compensation-store.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { manifest, pipeline } from '../../pipeline/pipeline.fixture.ts';
import { notingLog } from '../approvals/approvals.fixture.ts';
import type { Compensation } from '../compensation-store.port.ts';
import { type Compensated, createSideEffects } from '../side-effects.ts';
import type { CompensationParts } from './compensation-parts.ts';

const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } } };

/** A shop whose cancels end as `state` says. */
async function shop(more: Partial<CompensationParts> = {}) {
  const made = await pipeline();
  const compensations = more.compensations ?? memoryCompensationStore();
  const { log, lines } = notingLog();
  const state: { cancel: 'works' | 'fails' | 'is cut off'; tool: boolean } = { cancel: 'works', tool: true };
  const did: unknown[] = [];
  const order = { side_effect_policy: 'compensatable', parameters_schema: SCHEMA } as const;
  await made.add(manifest('order', { ...order, compensation_tool_id: 'cancel' }), () => 'ordered');
  const cancel = manifest('cancel', { side_effect_policy: 'idempotent', parameters_schema: SCHEMA });
  await made.add(cancel, ({ n }) => {
    did.push(n);
    if (state.cancel === 'fails') throw new Error('no');
    if (state.cancel === 'is cut off') throw new ToolLayerError('E3804', 'Nobody knows.');
  });
  const effects = createSideEffects({
    ...made.parts,
    compensations,
    runCall: made.run,
    findTool: () => (state.tool ? cancel : undefined),
    log,
    ...more,
  });
  const asker = { caller: { door: 'library', token: await made.token() }, agentDid: 'did:agent:a' } as const;
  const ordered = (n = 1, options: object = {}) =>
    made.call({ tool_id: 'order', parameters: { n }, execution_options: options });
  const rowOf = async ({ invocationId }: InvocationRecord): Promise<Compensation | undefined> =>
    (await compensations.find('acme', [invocationId]))[0];
  return { ...made, state, did, effects, asker, ordered, rowOf, compensations, lines };
}

const begunFor = (record: InvocationRecord, compensationId: string): Compensation => ({
  tenantId: 'acme',
  invocationId: record.invocationId,
  attempt: 1,
  state: 'compensating',
  toolId: 'cancel',
  compensationId,
  by: 'did:agent:a',
  startedAt: 1,
});

test('VIS-03.5 AUD-01 a compensation is kept and on record whole, as a call of the same turn', async () => {
  const { effects, ordered, asker, rowOf, everyEventOf, store, parts } = await shop();
  const record = await ordered(1, { idempotency_key: 'k', turn_group_id: 't-1' });
  const before = parts.clock.now();
  const done = (await effects.compensate(record, asker)) as Compensated;
  const row = await rowOf(record);
  const compensationId = row?.compensationId ?? '';
  const times = { startedAt: expect.any(Number), endedAt: expect.any(Number) };
  expect(row).toEqual({ ...begunFor(record, compensationId), state: 'compensated', ...times });
  expect(row?.endedAt).toBeGreaterThanOrEqual(before);
  expect(done.effect.compensation).toEqual(row);
  const call = await effects.compensationOf(done.effect);
  expect(call).toEqual(await store.findInvocation('acme', compensationId));
  expect(call).toMatchObject({ turnGroupId: 't-1', idempotencyKey: `${record.invocationId}:1` });
  const { compensation: _none, ...without } = done.effect;
  expect(await effects.compensationOf(without)).toBeUndefined();
  expect((await everyEventOf(record.invocationId)).at(-1)?.data).toEqual({
    agent_did: 'did:agent:a',
    invocation_id: record.invocationId,
    side_effect: {
      compensation_executed: true,
      compensation_id: compensationId,
      compensation_tool: 'cancel',
      idempotency_key: 'k',
      policy: 'compensatable',
      status: 'compensated',
    },
    tenant_id: 'acme',
    tool_id: 'order',
    tool_version: '1.0.0',
  });
  const plain = await ordered(2);
  const other = ((await effects.compensate(plain, asker)) as Compensated).effect;
  expect(await effects.compensationOf(other)).not.toHaveProperty('turnGroupId');
  const said = (await everyEventOf(plain.invocationId)).at(-1)?.data['side_effect'];
  expect(said).not.toHaveProperty('idempotency_key');
});

test('VIS-03 a failure says what failed and how; a repeated attempt that was given up is on record as failed', async () => {
  const { effects, ordered, asker, rowOf, state } = await shop();
  const record = await ordered();
  state.cancel = 'fails';
  const failed = (await effects.compensate(record, asker)) as Compensated;
  const compensationId = (await rowOf(record))?.compensationId;
  expect(failed).toMatchObject({
    already: false,
    effect: { status: 'compensation_failed' },
    failure: {
      code: 'E3818',
      message: 'cancel failed to take the call back.',
      details: { compensation_id: compensationId, e_code: 'E3109' },
    },
  });
  expect(await rowOf(record)).toMatchObject({ state: 'failed', attempt: 1, errorCode: 'E3109' });
  // The tool is there no more: nothing is tried, and the earlier end is the answer.
  state.tool = false;
  expect(await effects.compensate(record, asker)).toMatchObject({ already: true, failure: { code: 'E3818' } });
  state.tool = true;
  const nobody = { ...asker, caller: { door: 'library', token: 'none' } } as const;
  const refused = (await effects.compensate(record, nobody)) as Compensated;
  expect(refused.failure?.code).toMatch(/^E32/);
  expect(await rowOf(record)).toMatchObject({ state: 'failed', attempt: 2, errorCode: refused.failure?.code });
  state.cancel = 'works';
  expect(await effects.compensate(record, asker)).toMatchObject({ effect: { status: 'compensated' } });
  expect(await rowOf(record)).not.toHaveProperty('errorCode');
});

test('VIS-03 PIPE-13 a compensation that was cut off is unknown, stops the others, and is not run again', async () => {
  const { effects, ordered, asker, state, did } = await shop();
  const records = [await ordered(1), await ordered(2)];
  state.cancel = 'is cut off';
  const [unknown, rest] = await effects.compensateAll(records, asker, false);
  expect([unknown?.outcome, rest?.outcome]).toEqual(['unknown', 'not_tried']);
  expect(unknown?.failure).toMatchObject({ code: 'E3804', message: expect.stringContaining('Nobody knows whether') });
  expect(unknown?.done?.failure).toEqual(unknown?.failure);
  state.cancel = 'works';
  const again = (await effects.compensate(records[1] as InvocationRecord, asker)) as Compensated;
  expect([again.already, again.effect.status]).toEqual([true, 'compensation_unknown']);
  expect(did).toEqual([2]);
});

test('VIS-03 a compensating call that waits leaves the side effect compensating, without a failure', async () => {
  const waits: CompensationParts['runCall'] = async ({ request }) => ({
    ...((await first) as InvocationRecord),
    invocationId: request.invocation_id ?? 'other',
    state: 'AUTHORIZED',
  });
  const { effects, ordered, asker, rowOf } = await shop({ runCall: waits });
  const first = ordered();
  const record = await first;
  const [one] = await effects.compensateAll([record], asker, false);
  expect(one?.outcome).toBe('compensating');
  expect(one).not.toHaveProperty('failure');
  expect(one?.done).not.toHaveProperty('failure');
  expect(await rowOf(record)).toMatchObject({ state: 'compensating' });
  expect(await rowOf(record)).not.toHaveProperty('endedAt');
});

test('VIS-03 an earlier attempt of which nothing ran is begun anew by the next asker', async () => {
  const { effects, ordered, asker, call, compensations, did } = await shop();
  const record = await ordered(5);
  const refused = await call({ tool_id: 'cancel', parameters: { n: 'x' } });
  await compensations.change(begunFor(record, refused.invocationId), undefined);
  expect(await effects.settleOpen()).toBe(0);
  expect(await effects.compensate(record, asker)).toMatchObject({ effect: { status: 'compensated' }, already: false });
  expect(did).toEqual([5]);
});

test('VIS-03 a compensation whose asker is gone is settled when its call is over, and not before', async () => {
  const { effects, ordered, call, compensations, store, rowOf, everyEventOf, parts } = await shop();
  const [over, runs, gone] = [await ordered(1), await ordered(2), await ordered(3)];
  const cancelled = await call({ tool_id: 'cancel', parameters: { n: 1 } });
  const running: InvocationRecord = { ...cancelled, invocationId: 'runs', nonce: 'runs', state: 'EXECUTING' };
  await parts.ledger.commit({ record: running, events: [], durability: 'synchronous' });
  await compensations.change(begunFor(over, cancelled.invocationId), undefined);
  await compensations.change(begunFor(runs, 'runs'), undefined);
  await compensations.change(begunFor(gone, 'nowhere'), undefined);
  expect(await store.findInvocation('acme', 'runs')).toMatchObject({ state: 'EXECUTING' });
  expect(await effects.settleOpen()).toBe(1);
  expect(await rowOf(over)).toMatchObject({ state: 'compensated' });
  expect((await rowOf(runs))?.state).toBe('compensating');
  expect((await rowOf(gone))?.state).toBe('compensating');
  expect((await everyEventOf(over.invocationId)).at(-1)?.type).toBe('ai.agent.tool.side_effect.compensated');
  expect(await effects.settleOpen()).toBe(0);
});

test('VIS-03 PIPE-13 a compensation whose end comes on record late is not unknown for good', async () => {
  const late: InvocationRecord[] = [];
  const runCall: CompensationParts['runCall'] = async ({ request, compensates }) => {
    const { parts, call } = made;
    const done = await call({ tool_id: 'cancel', parameters: { n: 1 } });
    const invocationId = request.invocation_id ?? '';
    const row = { ...done, invocationId, nonce: invocationId, ...(compensates === undefined ? {} : { compensates }) };
    late.push(row);
    await parts.ledger.commit({ record: { ...row, state: 'EXECUTING' }, events: [], durability: 'synchronous' });
    return {
      ...row,
      state: 'FAILED',
      failure: failure('E3804', 'The tool ran, but its outcome could not be recorded.'),
    };
  };
  const made = await shop({ runCall });
  const { effects, ordered, asker, parts } = made;
  const record = await ordered();
  expect(await effects.compensate(record, asker)).toMatchObject({ effect: { status: 'compensating' } });
  for (const row of late) await parts.ledger.commit({ record: row, events: [], durability: 'synchronous' });
  expect(await effects.settleOpen()).toBe(1);
  expect(await effects.find('acme', record.invocationId)).toMatchObject({ status: 'compensated' });
});

test('VIS-03 many who change the row at once are asked to try again, and a tool that is not there leaves no row', async () => {
  const inner = memoryCompensationStore();
  let races = 0;
  const change = async () => {
    races += 1;
    return false;
  };
  const crowded = await shop({ compensations: { ...inner, change } });
  const refused = await crowded.effects.compensate(await crowded.ordered(), crowded.asker);
  expect(refused).toMatchObject({ code: 'E3803', retryAfterMs: 250 });
  expect([races, crowded.did]).toEqual([8, []]);
  const without = await shop();
  without.state.tool = false;
  const record = await without.ordered();
  const done = (await without.effects.compensate(record, without.asker)) as Compensated;
  expect(done).toMatchObject({ already: false, failure: { code: 'E3818' }, effect: { status: 'executed' } });
  expect(await without.rowOf(record)).toBeUndefined();
});

test('VIS-03 a compensation counts though its event could not be written, which is logged', async () => {
  const commit = () => Promise.reject(new ToolLayerError('E3812', 'away'));
  const { effects, ordered, asker, lines } = await shop({ ledger: { commit } });
  const record = await ordered();
  expect(await effects.compensate(record, asker)).toMatchObject({ effect: { status: 'compensated' } });
  const fields = { invocation_id: record.invocationId, e_code: 'E3812' };
  expect(lines).toEqual([`warn compensation-not-audited ${JSON.stringify(fields)}`]);
});

test('VIS-03.1 side effects are listed page by page, also where few rows match, and a refusal says why', async () => {
  const { effects, ordered, call, asker, add } = await shop();
  await add(manifest('mail', { side_effect_policy: 'irreversible' }), () => 'sent');
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.unshift((await ordered(n)).invocationId);
  const mail = await call({ tool_id: 'mail', parameters: { n: 1 } });
  const listed: string[] = [];
  let before: Parameters<typeof effects.list>[0]['before'];
  let pages = 0;
  do {
    const query = { tenantId: 'acme', limit: 2, ...(before === undefined ? {} : { before }) };
    const page = await effects.list(query, ({ record }) => record.toolId === 'order');
    expect(page.effects.length).toBeLessThanOrEqual(2);
    listed.push(...page.effects.map(({ record }) => record.invocationId));
    before = page.next;
    pages += 1;
  } while (before !== undefined && pages < 9);
  expect(listed.toSorted()).toEqual(ids.toSorted());
  const none = await effects.list({ tenantId: 'acme', limit: 6 }, () => false);
  expect(none).toEqual({ effects: [] });
  const few = await effects.list({ tenantId: 'acme', limit: 1 }, () => false);
  expect(few.effects).toEqual([]);
  expect(await effects.find('acme', 'nowhere')).toBeUndefined();
  const refused = await effects.compensate(mail, asker);
  expect(isFailure(refused) ? [refused.message, refused.details] : refused).toEqual([
    `The call ${mail.invocationId} cannot be taken back. Its tool is irreversible.`,
    { status: 'executed' },
  ]);
});
