import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryCompensationStore } from '../../../test/stores/outcomes/memory-compensation-store.ts';
import { memoryOutcomeStore } from '../../../test/stores/outcomes/memory-outcome-store.ts';
import { manifest, pipeline } from '../../pipeline/pipeline.fixture.ts';
import { createSideEffects, needsCompensation } from '../side-effects.ts';
import { compensationArguments } from './compensation-arguments.ts';

const SCHEMA = { type: 'object', properties: { n: { type: 'integer' }, order: { type: 'string' } } };

/** A shop whose tools are cut off as many times as `cuts` says. */
async function shop() {
  const store = memoryLedgerStore();
  const outcomes = memoryOutcomeStore(store);
  const made = await pipeline({ store, outcomes });
  const cuts = { order: 0, cancel: 0 };
  const did: unknown[] = [];
  const tool = (name: 'order' | 'cancel') => (given: Readonly<Record<string, unknown>>) => {
    did.push([name, given['n'], given['order']]);
    if (cuts[name]-- > 0) throw new ToolLayerError('E3107', 'Gone.', { details: { reached: true } });
    return { order: 'o-1' };
  };
  const compensatable = { side_effect_policy: 'compensatable', parameters_schema: SCHEMA } as const;
  await made.add(manifest('order', { ...compensatable, compensation_tool_id: 'cancel' }), tool('order'));
  await made.add(manifest('cancel', { side_effect_policy: 'irreversible', parameters_schema: SCHEMA }), tool('cancel'));
  const effects = createSideEffects({
    ...made.parts,
    outcomes,
    compensations: memoryCompensationStore(),
    runCall: made.run,
    findTool: (tenantId, toolId) => {
      const found = made.parts.registry.find(tenantId, toolId);
      return isFailure(found) ? undefined : found.tool.manifest;
    },
  });
  const asker = { caller: { door: 'library', token: await made.token() }, agentDid: 'did:agent:a' } as const;
  const settle = (invocationId: string, outcome: 'happened' | 'did_not_happen', more = {}) =>
    outcomes.settle({ tenantId: 'acme', invocationId, outcome, how: 'person', at: 1, ...more });
  const order = () => made.call({ tool_id: 'order', parameters: { n: 1 } });
  const find = async (id: string) => {
    const effect = await effects.find('acme', id);
    if (effect === undefined) throw new Error('it left nothing behind');
    return effect;
  };
  return { ...made, cuts, did, effects, asker, settle, order, find };
}

test('VIS-03 PIPE-13 an effect that nobody knew follows what was found out: it did not happen', async () => {
  const { cuts, order, settle, find, effects } = await shop();
  cuts.order = 2;
  const [one, other] = [await order(), await order()];
  expect([(await find(one.invocationId)).status, needsCompensation(await find(one.invocationId))]).toEqual([
    'unknown',
    false,
  ]);
  await settle(one.invocationId, 'did_not_happen');
  await settle(other.invocationId, 'did_not_happen', { how: 'rollback' });
  const { effects: listed } = await effects.list({ tenantId: 'acme', limit: 10 });
  expect(listed.map(({ status }) => status).sort()).toEqual(['failed', 'rolled_back']);
  expect(listed.some(needsCompensation)).toBe(false);
});

test('VIS-03 PIPE-13 or it happened, and then it can be taken back with what is known of it', async () => {
  const { cuts, did, order, settle, find, effects, asker } = await shop();
  cuts.order = 1;
  const { invocationId } = await order();
  const unknown = await effects.compensate((await find(invocationId)).record, asker);
  expect(isFailure(unknown) ? unknown.code : unknown).toBe('E3818');
  await settle(invocationId, 'happened', { result: { order: 'o-9' } });
  const effect = await find(invocationId);
  expect([effect.status, needsCompensation(effect)]).toEqual(['executed', true]);
  const [done] = await effects.compensateAll([effect.record], asker, false);
  expect(done?.outcome).toBe('compensated');
  expect(did.at(-1)).toEqual(['cancel', 1, 'o-9']);
  expect((await find(invocationId)).status).toBe('compensated');
});

test('VIS-03 PIPE-13 of a call that happened with a result that nobody knows, no argument is taken for a part of it', async () => {
  const { cuts, did, order, settle, find, effects, asker } = await shop();
  cuts.order = 1;
  const { invocationId } = await order();
  await settle(invocationId, 'happened');
  const { record } = await find(invocationId);
  const before = did.length;
  expect(await effects.compensate(record, asker)).toMatchObject({
    effect: { status: 'executed' },
    failure: { code: 'E3818', details: { arguments: ['n'] } },
  });
  expect(did).toHaveLength(before);
  await effects.compensate(record, asker, { n: 1, order: 'o-9' });
  expect(did.at(-1)).toEqual(['cancel', 1, 'o-9']);
});

test('VIS-03 PIPE-13 a compensation that was cut off follows what was found out of its call', async () => {
  for (const outcome of ['happened', 'did_not_happen'] as const) {
    const { cuts, did, order, settle, find, effects, asker, everyEventOf } = await shop();
    cuts.cancel = 1;
    const { invocationId } = await order();
    await effects.compensate((await find(invocationId)).record, asker);
    const effect = await find(invocationId);
    expect(effect.status).toBe('compensation_unknown');
    await settle(effect.compensation?.compensationId ?? '', outcome);
    const status = outcome === 'happened' ? 'compensated' : 'compensation_failed';
    expect((await Promise.all([find(invocationId), find(invocationId)])).map((each) => each.status)).toEqual([
      status,
      status,
    ]);
    const types = (await everyEventOf(invocationId)).map(({ type }) => type);
    expect(types.filter((type) => type === 'ai.agent.tool.side_effect.compensated')).toHaveLength(
      outcome === 'happened' ? 1 : 0,
    );
    // The tool is not safe to repeat, so the compensation is not tried again.
    await effects.compensate((await find(invocationId)).record, asker);
    expect(did).toHaveLength(2);
  }
});

test('VIS-03 a compensating call gets what it takes by name: from who asks, from the result, from the arguments; never of another type', () => {
  const plan = { toolId: 'cancel', parameters: { order: 'by argument', n: 1, odd: 'x', list: 'x', flag: 'x' } };
  const record = { invocationId: 'i', result: { order: 7, n: null, odd: 3, list: [1], flag: true } };
  const taking = (properties: object, said = {}) => compensationArguments({ properties }, record, plan, said);
  expect(taking({ order: { type: 'string' } })).toEqual({ order: 'by argument' });
  expect(taking({ order: { type: 'integer' } })).toEqual({ order: 7 });
  expect(taking({ order: {} })).toEqual({ order: 7 });
  expect(taking({ order: { type: ['string', 'null'] } })).toEqual({ order: 'by argument' });
  expect(taking({ n: { type: ['integer', 'null'] } })).toEqual({ n: null });
  expect(taking({ n: { type: 'integer' }, list: { type: 'array' } })).toEqual({ n: 1, list: [1] });
  expect(taking({ flag: { type: 'object' }, absent: {} })).toEqual({});
  expect(taking({ order: { type: 'string' } }, { order: 'as said', more: 1 })).toEqual({ order: 'as said', more: 1 });
  expect(taking({ original_invocation_id: {}, original_arguments: {}, original_result: {} })).toEqual({
    original_invocation_id: 'i',
    original_arguments: plan.parameters,
    original_result: record.result,
  });
  expect(taking({}, { n: 2 })).toEqual({ ...plan.parameters, ...record.result, n: 2 });
});
