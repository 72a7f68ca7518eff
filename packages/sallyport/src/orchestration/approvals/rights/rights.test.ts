import { sha256 } from '@sallyport/std/sha256';
import { describe, expect, test } from 'vitest';
import {
  ADMIN,
  ALICE,
  type ApprovalsUnderTest,
  approvalsOf,
  approver,
  BOB,
  factsOf,
  questionOf,
  rowOf,
} from '../approvals.fixture.ts';

const HOUR = 3_600_000;

async function asked(made: ApprovalsUnderTest, tool = 'send', n = 1) {
  const record = await made.ask({ tool_id: tool, parameters: { n } });
  return { record, approvalId: questionOf(record).approvalId };
}

/** What is audited of this type, of all calls. */
async function dataOf({ store }: ApprovalsUnderTest, type: string) {
  const events = await store.events(undefined, { limit: 1000 });
  return events.filter(({ event }) => event.type === type).map(({ event }) => event.data);
}

describe('a standing rule', () => {
  test('holds for the very same call of the same agent, until it ends', async () => {
    const made = await approvalsOf();
    const { approvalId, record } = await asked(made);
    const remember = { scope: 'exact_arguments', forMs: HOUR } as const;
    const { rule } = (await made.approvals.approve({
      approvalId,
      approver: ALICE,
      remember,
      reason: 'daily',
    })) as never;
    expect(rule).toMatchObject({ madeBy: ALICE.id, why: 'daily', agentDid: 'did:agent:a' });
    const again = () => made.ask({ tool_id: 'send', parameters: { n: 1 } });
    expect(await again()).toMatchObject({ state: 'COMPLETED' });
    expect(await made.ask({ tool_id: 'send', parameters: { n: 2 } })).toMatchObject({ state: 'AUTHORIZED' });
    const stranger = await made.token({ agent_did: 'did:agent:b' });
    const other = { tool_id: 'send', parameters: { n: 1 }, capability_token: stranger };
    expect(await made.ask(other)).toMatchObject({ state: 'AUTHORIZED' });
    const user = await made.token({ user_did: 'did:user:u' });
    expect(await made.ask({ ...other, capability_token: user })).toMatchObject({ state: 'AUTHORIZED' });
    expect((await factsOf(made, record)).map(({ type }) => type)).toContain('rule_made');
    made.clock.pass(HOUR);
    expect(await again()).toMatchObject({ state: 'AUTHORIZED' });
    expect(made.approvals.rules('acme')).toEqual([]);
  });

  test('of the scope tool holds for other arguments, never for another reason, tool or policy', async () => {
    let version = '1';
    const decide = () => ({ allowed: true, policies: ['p'], engine: 'e', version });
    const made = await approvalsOf({ pipeline: { policy: { decide, clear() {} } } });
    const { approvalId } = await asked(made);
    await made.approvals.approve({ approvalId, approver: ALICE, remember: { scope: 'tool', forMs: HOUR } });
    expect(await made.ask({ tool_id: 'send', parameters: { n: 5 } })).toMatchObject({ state: 'COMPLETED' });
    expect(await made.ask({ tool_id: 'pay', parameters: { n: 5 } })).toMatchObject({ state: 'AUTHORIZED' });
    const demanded = { tool_id: 'send', parameters: { n: 5 }, execution_options: { require_approval: true } };
    expect(await made.ask(demanded)).toMatchObject({ state: 'AUTHORIZED' });
    version = '2';
    expect(await made.ask({ tool_id: 'send', parameters: { n: 6 } })).toMatchObject({ state: 'AUTHORIZED' });
  });

  test('is seen and revoked on every instance, by its own tenant alone', async () => {
    const made = await approvalsOf();
    const other = made.open({ limits: { followMs: 5 } });
    await other.start();
    try {
      const { approvalId } = await asked(made);
      await made.approvals.approve({ approvalId, approver: ALICE, remember: { scope: 'tool', forMs: HOUR } });
      await expect.poll(() => other.rules('acme').length).toBe(1);
      const [rule] = other.rules('acme');
      const stranger = approver('did:user:alice', { tenantId: 'globex' });
      expect(await other.revokeRule(stranger, rule?.id ?? '')).toBeUndefined();
      expect(other.rules('globex')).toEqual([]);
      await other.revokeRule(BOB, rule?.id ?? '', 'no more');
      expect(other.rules('acme')).toEqual([]);
      expect(await dataOf(made, 'ai.agent.approval.rule_revoked')).toMatchObject([
        { rule_id: rule?.id, tool_id: 'send', agent_did: 'did:agent:a', by: BOB.id, reason: 'no more' },
      ]);
      expect(await made.approvalStore.changedRules(0)).toMatchObject({ rules: [{ revoked: true }] });
    } finally {
      await other[Symbol.asyncDispose]();
    }
  });

  test('is refused where the rules of the tool, the roles or the bounds say so, and nothing is decided then', async () => {
    const made = await approvalsOf({
      terms: '[[rule]]\ntools = ["pay"]\nquorum = 2\n[[rule]]\nremember = "exact_arguments"',
    });
    const pay = await asked(made, 'pay');
    const send = await asked(made);
    const always = (approvalId: string, more: object, who = ALICE) =>
      made.approvals.approve({
        approvalId,
        approver: who,
        remember: { scope: 'exact_arguments', forMs: HOUR, ...more },
      });
    expect(await always(pay.approvalId, {})).toMatchObject({ code: 'E3801' });
    expect(await always(send.approvalId, { scope: 'tool' })).toMatchObject({ code: 'E3801' });
    expect(await always(send.approvalId, { forMs: 31 * 24 * HOUR })).toMatchObject({ code: 'E3801' });
    expect(await always(send.approvalId, { agentOnly: false })).toMatchObject({ code: 'E3213' });
    expect(await made.approvals.pending('acme', 10, 0)).toHaveLength(2);
    expect(await always(send.approvalId, { agentOnly: false }, ADMIN)).toMatchObject({ state: 'approved' });
  });
});

describe('a delegation', () => {
  const terms = '[[rule]]\napprovers = ["did:user:alice"]';

  test('ORC-03 lets somebody else decide in the name of the approver, for its time, on record', async () => {
    const made = await approvalsOf({ terms });
    const { approvalId, record } = await asked(made);
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ code: 'E3213' });
    await made.approvals.delegate({ approver: ALICE, to: BOB.id, forMs: HOUR, reason: 'on leave' });
    made.clock.pass(HOUR - 1);
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ state: 'approved' });
    await made.approvals.idle();
    expect(await made.approvalStore.votes('acme', approvalId)).toMatchObject([
      { approver: BOB.id, inNameOf: ALICE.id },
    ]);
    expect(await rowOf(made, record)).toMatchObject({ state: 'COMPLETED' });
    made.clock.pass(1);
    const next = await asked(made, 'send', 2);
    expect(await made.approvals.approve({ approvalId: next.approvalId, approver: BOB })).toMatchObject({
      code: 'E3213',
    });
  });

  test('is not passed on, does not outlive its end, and falls with the credential of its maker', async () => {
    let good = true;
    const made = await approvalsOf({ terms, approvals: { stillGood: () => good } });
    const { approvalId } = await asked(made);
    const claims = {
      tenant_id: 'acme',
      agent_did: ALICE.id,
      tool_id: '*',
      allowed_operations: [],
      exp: 1,
      iat: 1,
      iss: 'x',
    };
    const lent = await made.approvals.delegate({ approver: { ...ALICE, claims }, to: BOB.id, forMs: HOUR });
    await made.approvals.delegate({ approver: BOB, to: ADMIN.id, forMs: HOUR });
    expect(await made.approvals.approve({ approvalId, approver: ADMIN })).toMatchObject({ code: 'E3213' });
    good = false;
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ code: 'E3213' });
    good = true;
    const { id } = lent as { id: string };
    expect(await made.approvals.endDelegation(BOB, id)).toMatchObject({ code: 'E3809' });
    expect(await made.approvals.endDelegation(ALICE, id)).toMatchObject({ id });
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ code: 'E3213' });
    const [first, , ended] = await dataOf(made, 'ai.agent.approval.delegated');
    const audited = { delegation_id: id, by: ALICE.id, from: ALICE.id, to: BOB.id };
    expect([first, ended]).toMatchObject([
      { ...audited, what: 'made' },
      { ...audited, what: 'ended' },
    ]);
  });

  test('ORC-03.9 of somebody whose credential goes back to who asked for the call lends nothing', async () => {
    const made = await approvalsOf({ terms: '[[rule]]\napprovers = ["did:agent:second"]' });
    const token = await made.token({ user_did: ALICE.id });
    const record = await made.ask({ tool_id: 'send', parameters: { n: 1 }, capability_token: token });
    const { approvalId } = questionOf(record);
    const claims = { tenant_id: 'acme', tool_id: '*', allowed_operations: [], exp: 4e9, iat: 1, iss: 'x' };
    const second = (user_did: string) =>
      approver('did:agent:second', { claims: { ...claims, agent_did: 'did:agent:second', user_did } });
    await made.approvals.delegate({ approver: second(ALICE.id), to: BOB.id, forMs: HOUR });
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ code: 'E3213' });
    await made.approvals.delegate({ approver: second('did:user:carol'), to: BOB.id, forMs: HOUR });
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ state: 'approved' });
  });

  test('ORC-03 of somebody who asked for the call lends nothing', async () => {
    const made = await approvalsOf({ terms: '[[rule]]\napprovers = ["did:user:alice", "did:user:carol"]' });
    const token = await made.token({ user_did: ALICE.id });
    const record = await made.ask({ tool_id: 'send', parameters: { n: 1 }, capability_token: token });
    const { approvalId } = questionOf(record);
    await made.approvals.delegate({ approver: ALICE, to: BOB.id, forMs: HOUR });
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ code: 'E3213' });
    expect(await made.approvals.delegate({ approver: ALICE, to: ALICE.id, forMs: HOUR })).toMatchObject({
      code: 'E3801',
    });
    await made.approvals.delegate({ approver: approver('did:user:carol'), to: BOB.id, forMs: HOUR });
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ state: 'approved' });
  });

  test('of one right counts once towards the quorum', async () => {
    const made = await approvalsOf({ terms: '[[rule]]\napprovers = ["did:user:alice", "did:user:carol"]\nquorum = 2' });
    const { approvalId } = await asked(made);
    await made.approvals.delegate({ approver: ALICE, to: BOB.id, forMs: HOUR });
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ votes: 1 });
    expect(await made.approvals.approve({ approvalId, approver: ALICE })).toMatchObject({ state: 'pending', votes: 1 });
    const carol = approver('did:user:carol');
    expect(await made.approvals.approve({ approvalId, approver: carol })).toMatchObject({
      state: 'approved',
      votes: 2,
    });
  });
});

describe('an answer by link', () => {
  const terms = '[[rule]]\napprovers = ["mailto:ops@example.com", "did:user:alice"]';
  const tokenOf = ({ notices }: ApprovalsUnderTest): string => notices[0]?.approvers[0]?.answerToken ?? '';

  test('ORC-03.5 works once, for the one approval, in the name of its address; only its hash is kept', async () => {
    const made = await approvalsOf({ terms });
    const { record } = await asked(made);
    const other = await asked(made, 'send', 2);
    const token = tokenOf(made);
    expect(token).toMatch(/^spa_[\w-]{43}$/);
    expect(made.notices[0]?.approvers[1]).toEqual({ id: 'did:user:alice' });
    expect(await made.approvals.answer({ token, decision: 'approve', reason: 'ok' })).toMatchObject({
      state: 'approved',
    });
    await made.approvals.idle();
    expect(await made.approvals.answer({ token, decision: 'approve' })).toMatchObject({ code: 'E3817' });
    expect(await rowOf(made, record)).toMatchObject({ state: 'COMPLETED' });
    expect(await rowOf(made, other.record)).toMatchObject({ state: 'AUTHORIZED' });
    // The address itself stays out of the audit; its hash identifies the person.
    const fact = (await factsOf(made, record)).at(-1);
    expect(fact).toMatchObject({ decision: 'approved', by_hash: sha256('mailto:ops@example.com') });
    expect(JSON.stringify(fact)).not.toContain('ops@example.com');
  });

  test('ORC-03.5 that approved cannot deny later, while others have to approve too', async () => {
    const made = await approvalsOf({ terms: `${terms}\nquorum = 2` });
    const { record, approvalId } = await asked(made);
    const token = tokenOf(made);
    expect(await made.approvals.answer({ token, decision: 'approve' })).toMatchObject({ state: 'pending', votes: 1 });
    expect(await made.approvals.answer({ token, decision: 'deny' })).toMatchObject({ code: 'E3817' });
    expect(await made.approvals.approve({ approvalId, approver: ALICE })).toMatchObject({ state: 'approved' });
    await made.approvals.idle();
    expect(await rowOf(made, record)).toMatchObject({ state: 'COMPLETED' });
  });

  test('ORC-03.6 stays good when the answer was about something else, and ends with the approval', async () => {
    const made = await approvalsOf({ terms });
    await asked(made);
    const token = tokenOf(made);
    const wrong = { token, decision: 'deny' as const, digest: 'f'.repeat(64) };
    expect(await made.approvals.answer(wrong)).toMatchObject({ code: 'E3817' });
    made.clock.pass(24 * HOUR);
    expect(await made.approvals.answer({ token, decision: 'approve' })).toMatchObject({ code: 'E3808' });
    for (const odd of ['', 'spa_', token.slice(0, -1), `${token}A`, `spa_${'A'.repeat(43)}`])
      expect(await made.approvals.answer({ token: odd, decision: 'approve' })).toMatchObject({ code: 'E3809' });
    expect(made.ran).toEqual([]);
  });
});
