import { setTimeout as sleep } from 'node:timers/promises';
import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { Role } from '../../../api/schemas/capability-token.ts';
import { memoryCompensationStore } from '../../../test/stores/outcomes/memory-compensation-store.ts';
import type { Principal } from '../../domain/principal/principal.ts';
import { createSideEffects } from '../../orchestration/side-effects.ts';
import { manifest, pipeline } from '../../pipeline/pipeline.fixture.ts';
import type { Asker } from '../operation.ts';
import { compensateMany, compensateOne } from './compensate-side-effects.ts';
import { getSideEffect, listSideEffects } from './list-side-effects.ts';

async function shop() {
  const made = await pipeline();
  const did: string[] = [];
  const plan = { side_effect_policy: 'compensatable', compensation_tool_id: 'cancel' } as const;
  await made.add(manifest('order', plan), ({ n }) => {
    did.push(`order ${n}`);
    return { order: `o-${n}` };
  });
  const schema = { type: 'object', properties: { order: { type: 'string' } } };
  await made.add(manifest('cancel', { side_effect_policy: 'idempotent', parameters_schema: schema }), ({ order }) => {
    did.push(`cancel ${order}`);
    return { cancelled: order };
  });
  const sideEffects = createSideEffects({
    ...made.parts,
    compensations: memoryCompensationStore(),
    runCall: made.run,
    findTool: (tenantId, toolId) => {
      const found = made.parts.registry.find(tenantId, toolId);
      return isFailure(found) ? undefined : found.tool.manifest;
    },
  });
  const parts = { sideEffects };
  const asker = async (
    agentDid: string,
    roles: Role[] = ['agent'],
    tenantId = 'acme',
    user: Pick<Principal, 'userDid'> = {},
  ): Promise<Asker> => ({
    principal: { tenantId, agentDid, roles, ...user },
    caller: { door: 'library', token: await made.token({ agent_did: agentDid, roles, tenant_id: tenantId }) },
  });
  const order = async (n: number, turn = 't-1') => {
    // The list is ordered by time in whole milliseconds, so the calls must differ.
    await sleep(2);
    const execution_options = { turn_group_id: turn };
    return (await made.call({ tool_id: 'order', parameters: { n }, execution_options })).invocationId;
  };
  return {
    did,
    asker,
    order,
    list: listSideEffects.run(parts),
    get: getSideEffect.run(parts),
    one: compensateOne.run(parts),
    many: compensateMany.run(parts),
  };
}

describe('VIS-03 the operations on side effects', () => {
  test('VIS-03.2 list and show the own ones to an agent, all of the tenant to who reads it', async () => {
    const { asker, order, list, get } = await shop();
    const ids = [await order(1), await order(2), await order(3, 't-2')];
    const own = await asker('did:agent:a');
    const told = await list({ limit: 2 }, own);
    expect(told).toMatchObject({ side_effects: [{ id: ids[2] }, { id: ids[1] }], next: expect.any(String) });
    expect(await list({ limit: 2, after: (told as { next: string }).next }, own)).toMatchObject({
      side_effects: [{ id: ids[0], needs_compensation: true, compensation_executed: false }],
    });
    expect(await list({ turn_group_id: 't-2' }, own)).toMatchObject({ side_effects: [{ id: ids[2] }] });
    expect(await get({ invocation_id: ids[0] ?? '' }, own)).toMatchObject({
      tool_name: 'order',
      policy: 'compensatable',
      status: 'executed',
      args: { n: 1 },
      result: { order: 'o-1' },
      turn_group_id: 't-1',
      idempotency_key: expect.stringMatching(/^order:[0-9a-f]{16}:turn_group:t-1$/),
      compensation_tool: 'cancel',
    });
    const other = await asker('did:agent:b');
    const user = await asker('did:agent:a', ['agent'], 'acme', { userDid: 'did:user:u' });
    expect(await list({}, other)).toEqual({ side_effects: [] });
    expect(await list({}, user)).toEqual({ side_effects: [] });
    expect(await list({ agent_did: 'did:agent:a' }, other)).toEqual({ side_effects: [] });
    expect(await list({}, await asker('did:boss', ['viewer']))).toMatchObject({ side_effects: { length: 3 } });
    expect(await list({}, await asker('did:agent:a', ['viewer'], 'globex'))).toEqual({ side_effects: [] });
    for (const foreign of [other, user, await asker('did:agent:a', ['admin'], 'globex')]) {
      expect(await get({ invocation_id: ids[0] ?? '' }, foreign)).toMatchObject({ code: 'E3809' });
    }
    expect(await list({ after: '../x' }, own)).toMatchObject({ code: 'E3801' });
  });

  test('VIS-03.3 take one back, for its agent or an operator, and say that it was taken back before', async () => {
    const { asker, order, one, get, did } = await shop();
    const id = await order(1);
    const refused = [
      await asker('did:agent:b'),
      await asker('did:agent:a', ['agent'], 'acme', { userDid: 'did:user:u' }),
      await asker('did:boss', ['viewer']),
      await asker('x', ['admin'], 'globex'),
    ];
    for (const foreign of refused) expect(await one({ invocation_id: id }, foreign)).toMatchObject({ code: 'E3809' });
    const boss = await asker('did:boss', ['agent', 'operator']);
    expect(await one({ invocation_id: id }, boss)).toMatchObject({ outcome: 'compensated', tool_name: 'order' });
    const again = await one({ invocation_id: id }, await asker('did:agent:a'));
    expect(again).toMatchObject({ outcome: 'compensated', already: true });
    expect(await get({ invocation_id: id }, boss)).toMatchObject({
      status: 'compensated',
      compensation_executed: true,
      needs_compensation: false,
      compensation_result: { cancelled: 'o-1' },
      compensation_id: expect.any(String),
    });
    const { compensation_id } = (await get({ invocation_id: id }, boss)) as { compensation_id: string };
    expect(await get({ invocation_id: compensation_id }, boss)).toMatchObject({ tool_name: 'cancel', compensates: id });
    expect(did).toEqual(['order 1', 'cancel o-1']);
  });

  test('VIS-03.6 take a turn back, the last first, and nothing of another turn', async () => {
    const { asker, order, many, did } = await shop();
    const own = await asker('did:agent:a');
    for (const n of [1, 2, 3]) await order(n);
    await order(4, 't-2');
    const done = await many({ turn_group_id: 't-1' }, own);
    expect(done).toMatchObject({ complete: true, outcomes: { length: 3 } });
    expect(did.slice(4)).toEqual(['cancel o-3', 'cancel o-2', 'cancel o-1']);
    const again = await many({ turn_group_id: 't-1' }, own);
    expect(again).toMatchObject({
      complete: true,
      outcomes: [{ already: true }, { already: true }, { already: true }],
    });
    expect(await many({ turn_group_id: 't-1', invocation_ids: ['x'] }, own)).toMatchObject({ code: 'E3801' });
    expect(await many({}, own)).toMatchObject({ code: 'E3801' });
    expect(await many({ turn_group_id: 't-1' }, await asker('did:agent:b'))).toEqual({ complete: true, outcomes: [] });
    expect(did).toHaveLength(7);
  });
});
