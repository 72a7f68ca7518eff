import { Errors } from 'typebox/value';
import { expect, test } from 'vitest';
import type { Caller, Principal } from '../../domain/principal/principal.ts';
import { approvalsOf, questionOf } from '../../orchestration/approvals/approvals.fixture.ts';
import { OPERATIONS, type OperationInput, type OperationName } from '../catalogue.ts';
import type { Asker } from '../operation.ts';

const asker = (agentDid: string, more: Partial<Principal> = {}, caller: Partial<Caller> = {}): Asker => ({
  principal: { tenantId: 'acme', agentDid, roles: ['approver'], ...more },
  caller: { door: 'rest', ...caller },
});
const ALICE = asker('did:agent:console', { userDid: 'did:user:alice' });
const LOCAL = asker('did:sallyport:operator', { roles: ['operator'] }, { local: true });

async function operationsOn(terms = '') {
  const made = await approvalsOf({ terms });
  const parts = { approvals: made.approvals };
  /** Runs an operation, and checks its answer against the contract. */
  const ask = async <N extends OperationName & `approvals.${string}`>(
    name: N,
    input: OperationInput<N>,
    who = ALICE,
  ): Promise<Record<string, unknown>> => {
    const answer = (await OPERATIONS[name].run(parts)(input as never, who)) as Record<string, unknown>;
    if (answer['failed'] !== true) expect([...Errors(OPERATIONS[name].output, answer)]).toEqual([]);
    return answer;
  };
  const call = (tool_id: string, n = 1) => made.ask({ tool_id, parameters: { n } });
  return { ...made, ask, invoke: call };
}

test('ORC-03 what waits is listed and shown with its arguments and what an approval is bound to, until it is decided', async () => {
  const made = await operationsOn();
  const waiting = await made.invoke('pay', 7);
  const { approvalId: approval_id } = questionOf(waiting);
  const { approvals } = (await made.ask('approvals.list', {})) as { approvals: Record<string, unknown>[] };
  expect(approvals).toMatchObject([{ approval_id, tool_id: 'pay', state: 'pending', approvers: ['role:approver'] }]);
  const shown = await made.ask('approvals.get', { approval_id });
  expect(shown).toMatchObject({ parameters: { n: 7 }, votes: [] });
  const binding_digest = String(approvals[0]?.['binding_digest']);
  expect(await made.ask('approvals.approve', { approval_id, binding_digest })).toMatchObject({ state: 'approved' });
  await made.approvals.idle();
  expect(await made.ask('approvals.list', {})).toEqual({ approvals: [] });
  expect(await made.ask('approvals.list', { state: 'decided' })).toMatchObject({
    approvals: [{ approval_id, state: 'approved', decided_by: 'did:user:alice' }],
  });
  expect(await made.ask('approvals.get', { approval_id })).toMatchObject({ votes: [{ approver: 'did:user:alice' }] });
});

test('pages of what waits follow one another', async () => {
  const made = await operationsOn();
  const ids = [];
  for (const n of [1, 2, 3]) ids.push(questionOf(await made.invoke('pay', n)).approvalId);
  const page = async (at: number) => {
    const { approvals } = await made.ask('approvals.list', { page: at, page_size: 2 });
    return (approvals as { approval_id: string }[]).map(({ approval_id }) => approval_id);
  };
  expect([...(await page(1)), ...(await page(2))].sort()).toEqual(ids.sort());
  expect(await page(3)).toEqual([]);
});

test('who sits at the machine is one approver, and one alone', async () => {
  const made = await operationsOn('[[rule]]\nquorum = 2');
  const { approvalId: approval_id } = questionOf(await made.invoke('pay'));
  expect(await made.ask('approvals.approve', { approval_id }, LOCAL)).toMatchObject({ state: 'pending', votes: 1 });
  expect(await made.ask('approvals.approve', { approval_id }, LOCAL)).toMatchObject({ state: 'pending', votes: 1 });
  expect(await made.ask('approvals.approve', { approval_id })).toMatchObject({ state: 'approved' });
});

test('rules and delegations are made, listed and taken back', async () => {
  const made = await operationsOn();
  const { approvalId: approval_id } = questionOf(await made.invoke('send'));
  const remember = { scope: 'tool', for_seconds: 60 } as const;
  const { rule } = (await made.ask('approvals.approve', { approval_id, remember })) as { rule: { rule_id: string } };
  expect(await made.ask('approvals.rules', {})).toMatchObject({ rules: [{ rule_id: rule.rule_id, tool_id: 'send' }] });
  await made.ask('approvals.revoke-rule', { rule_id: rule.rule_id });
  expect(await made.ask('approvals.rules', {})).toEqual({ rules: [] });
  expect(await made.ask('approvals.revoke-rule', { rule_id: rule.rule_id })).toMatchObject({ code: 'E3809' });
  const lent = await made.ask('approvals.delegate', { to: 'did:user:bob', for_seconds: 60 });
  expect(await made.ask('approvals.delegations', {})).toMatchObject({ delegations: [{ to: 'did:user:bob' }] });
  await made.ask('approvals.end-delegation', { delegation_id: String(lent['delegation_id']) });
  expect(await made.ask('approvals.delegations', {})).toEqual({ delegations: [] });
});

test('an answer by link needs no credential', async () => {
  const made = await operationsOn('[[rule]]\napprovers = ["mailto:ops"]');
  const waiting = await made.invoke('pay');
  const answer_token = made.notices[0]?.approvers[0]?.answerToken ?? '';
  const nobody = asker('nobody', { roles: [] });
  const denied = await made.ask('approvals.answer', { answer_token, decision: 'deny', reason: 'no' }, nobody);
  expect(denied).toMatchObject({ state: 'denied', invocation_id: waiting.invocationId });
});
