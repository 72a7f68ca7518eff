import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryCompensationStore } from '../../../test/stores/outcomes/memory-compensation-store.ts';
import { memoryOutcomeStore } from '../../../test/stores/outcomes/memory-outcome-store.ts';
import type { NativeFunction } from '../../executors/native/native-executor.ts';
import { createSideEffects } from '../../orchestration/side-effects.ts';
import { manifest, pipeline } from '../../pipeline/pipeline.fixture.ts';
import { verifyInvocation } from '../invocations/verify-invocation.ts';
import type { Asker } from '../operation.ts';
import { getOutcome, listOutcomes } from './list-outcomes.ts';
import { reconcileOutcome } from './reconcile-outcome.ts';
import { settleOutcome } from './settle-outcome.ts';

const cutOff: NativeFunction = () => {
  throw new ToolLayerError('E3107', 'The connection broke.', { details: { reached: true } });
};

async function layer() {
  const store = memoryLedgerStore();
  const made = await pipeline({ store, outcomes: memoryOutcomeStore(store) });
  await made.add(manifest('pay', { side_effect_policy: 'irreversible' }), cutOff);
  const sideEffects = createSideEffects({
    ...made.parts,
    compensations: memoryCompensationStore(),
    runCall: made.run,
    findTool: () => undefined,
  });
  const parts = { ...made.parts, runCall: made.run, sideEffects };
  const token = await made.token();
  const asker = (agentDid = 'did:op', tenantId = 'acme'): Asker => ({
    principal: { tenantId, agentDid, roles: ['operator'] },
    caller: { door: 'library', token },
  });
  const unknown = async () => (await made.call({ tool_id: 'pay', parameters: { n: 1 } })).invocationId;
  return { ...made, parts, asker, unknown };
}

/** The code of a failure, or the value. */
async function ended<Value>(running: Value | Promise<Value>): Promise<unknown> {
  const end = await running;
  return isFailure(end) ? end.code : end;
}

describe('a call whose outcome is not known', () => {
  test('PIPE-13.4 stays listed until a person settles it, once and audited', async () => {
    const { parts, asker, unknown, eventsOf, store } = await layer();
    const [first, second] = [await unknown(), await unknown()];
    const list = async (settled = false) => {
      const answer = await listOutcomes.run(parts)({ settled }, asker());
      return isFailure(answer) ? answer.code : answer.outcomes.map(({ invocation_id }) => invocation_id);
    };
    expect(await list()).toHaveLength(2);
    const request = {
      invocation_id: first,
      outcome: 'happened',
      note: 'The bank shows it.',
      result: { id: 7 },
    } as const;
    expect(await settleOutcome.run(parts)(request, asker())).toMatchObject({
      invocation_id: first,
      settlement: { outcome: 'happened', how: 'person', settled_by: 'did:op', result: { id: 7 } },
    });
    const other = { ...request, outcome: 'did_not_happen' } as const;
    expect(await ended(settleOutcome.run(parts)(other, asker()))).toBe('E3704');
    expect(await ended(settleOutcome.run(parts)(request, asker('did:other')))).toBe('E3704');
    expect(await settleOutcome.run(parts)(request, asker())).toMatchObject({ settlement: { outcome: 'happened' } });
    expect([await list(), await list(true)]).toEqual([[second], [first]]);
    expect(await store.findInvocation('acme', first)).toMatchObject({ state: 'ABORTED', failure: { code: 'E3804' } });
    const [event] = (await eventsOf(first)).filter(({ type }) => type === 'ai.agent.tool.outcome_settled');
    expect(event?.data).toMatchObject({ by: 'did:op', outcome: 'happened', output_hash: expect.any(String) });
    expect(JSON.stringify(event)).not.toContain('"id":7');
  });

  test('PIPE-13 of another tenant, or with an outcome that is known, does not exist here', async () => {
    const { parts, asker, unknown, add, call } = await layer();
    const id = await unknown();
    await add(manifest('fine'), () => 1);
    const known = (await call({ tool_id: 'fine', parameters: { n: 1 } })).invocationId;
    const settle = (invocation_id: string, who: Asker) =>
      ended(settleOutcome.run(parts)({ invocation_id, outcome: 'happened', note: 'x' }, who));
    expect(await settle(id, asker('did:op', 'globex'))).toBe('E3809');
    expect(await settle(known, asker())).toBe('E3809');
    expect(await ended(getOutcome.run(parts)({ invocation_id: id }, asker('did:op', 'globex')))).toBe('E3809');
    expect(await ended(listOutcomes.run(parts)({ after: known }, asker()))).toBe('E3809');
  });

  test('PIPE-13.5 is settled by a tool that looks, and by none that may change something', async () => {
    const { parts, asker, unknown, add } = await layer();
    const id = await unknown();
    const answers: unknown[] = [{ outcome: 'pending' }, 'what?', { outcome: 'did_not_happen' }];
    const parameters_schema = { type: 'object', properties: { invocation_id: { type: 'string' } } };
    const asked: unknown[] = [];
    await add(manifest('look', { parameters_schema }), (parameters) => {
      asked.push(parameters);
      return answers.shift();
    });
    const reconcile = (tool_id: string) => ended(reconcileOutcome.run(parts)({ invocation_id: id, tool_id }, asker()));
    expect(await reconcile('pay')).toBe('E3901');
    expect(await reconcile('nowhere')).toBe('E3001');
    expect(await reconcile('look')).toBe('E3704');
    expect(await reconcile('look')).toBe('E3704');
    expect(await reconcile('look')).toMatchObject({ settlement: { outcome: 'did_not_happen', how: 'reconcile' } });
    expect(asked).toEqual(Array(3).fill({ invocation_id: id }));
  });

  test('PIPE-13.5 is settled by the structured content of an MCP server too', async () => {
    const { parts, asker, unknown, add } = await layer();
    const id = await unknown();
    const structuredContent = { outcome: 'happened', result: { id: 7 } };
    const parameters_schema = { type: 'object', properties: { invocation_id: { type: 'string' } } };
    await add(manifest('bank__find', { parameters_schema }), () => ({
      content: [{ type: 'text', text: '{}' }],
      structuredContent,
    }));
    const settled = ended(reconcileOutcome.run(parts)({ invocation_id: id, tool_id: 'bank__find' }, asker()));
    expect(await settled).toMatchObject({ settlement: { outcome: 'happened', result: { id: 7 } } });
  });
});

describe('a call that is verified', () => {
  test('PIPE-10 is made again with the same arguments, and its result compared', async () => {
    const { parts, asker, add, call } = await layer();
    let offset = 0;
    await add(manifest('double', { deterministic: true }), ({ n }) => Number(n) * 2 + offset);
    const { invocationId } = await call({ tool_id: 'double', parameters: { n: 4 } });
    const verify = (n: number) =>
      ended(verifyInvocation.run(parts)({ invocation_id: invocationId, parameters: { n } }, asker('did:agent:a')));
    expect(await verify(4)).toMatchObject({ invocation_id: invocationId, same: true });
    offset = 1;
    expect(await verify(4)).toMatchObject({ same: false });
    expect(await verify(5)).toBe('E3801');
  });

  test('PIPE-10.2 is made again with what is on record where its tool says that it is deterministic', async () => {
    const { parts, asker, add, call, store } = await layer();
    const asked: unknown[] = [];
    const body: NativeFunction = ({ n }) => {
      asked.push(n);
      return asked.length < 4 ? Number(n) * 2 : 'else';
    };
    await add(manifest('double', { deterministic: true }), body);
    await add(manifest('silent'), body);
    const { invocationId } = await call({ tool_id: 'double', parameters: { n: '4' } });
    const silent = await call({ tool_id: 'silent', parameters: { n: 4 } });
    const verify = (invocation_id: string, who = 'did:agent:a') =>
      ended(verifyInvocation.run(parts)({ invocation_id }, asker(who)));
    expect(await verify(invocationId)).toMatchObject({ same: true });
    expect(await verify(invocationId)).toMatchObject({ same: false });
    expect(asked).toEqual([4, 4, 4, 4]);
    expect(await verify(invocationId, 'did:agent:b')).toBe('E3809');
    expect(await verify(silent.invocationId)).toBe('E3509');
    expect(await store.findInvocation('acme', silent.invocationId)).not.toHaveProperty('inputs');
  });

  test('PIPE-10 REG-13 never runs another tool that has the name in the view since', async () => {
    const { parts, asker, add, call, visibility } = await layer();
    const ran: unknown[] = [];
    await add(manifest('read'), () => 1);
    await add(manifest('erase', { side_effect_policy: 'irreversible' }), ({ n }) => ran.push(n));
    const view = (tool: string) =>
      visibility.putView('acme', {
        name: 'mine',
        agents: ['*'],
        conflict: 'prefix',
        sources: [{ source: 'local', tools: [{ tool, name: 'act' }] }],
      });
    await view('read');
    const { invocationId } = await call({ tool_id: 'act', parameters: { n: 1 } });
    await view('erase');
    const agent = asker('did:agent:a');
    const principal = { ...agent.principal, roles: [] };
    const request = { invocation_id: invocationId, parameters: { n: 1 } };
    expect(await ended(verifyInvocation.run(parts)(request, { ...agent, principal }))).toBe('E3704');
    expect(ran).toEqual([]);
  });

  test('PIPE-10 is refused where it may change something, did not complete, or is another agent’s', async () => {
    const { parts, asker, add, call, unknown } = await layer();
    await add(manifest('write', { side_effect_policy: 'idempotent' }), () => 1);
    const { invocationId } = await call({ tool_id: 'write', parameters: { n: 1 } });
    const verify = (invocation_id: string, who: string) =>
      ended(verifyInvocation.run(parts)({ invocation_id, parameters: { n: 1 } }, asker(who)));
    expect(await verify(invocationId, 'did:agent:a')).toBe('E3901');
    expect(await verify(await unknown(), 'did:agent:a')).toBe('E3901');
    expect(await verify(invocationId, 'did:agent:b')).toBe('E3809');
  });
});
