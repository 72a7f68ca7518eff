import { expect, test } from 'vitest';
import {
  ADMIN,
  ALICE,
  approvalEvents,
  approvalsOf,
  approver,
  askedFor,
  BOB,
  iso,
  membersAbout,
} from '../approvals.fixture.ts';

const HOUR = 3_600_000;
const USER = 'did:user:u';

test('AUD-01.5 a standing rule is on record when it is made, when it approves a call and when it is revoked', async () => {
  const made = await approvalsOf();
  const { record, ...question } = await askedFor(made, 'send');
  const { approvalId, binding } = question;
  const remember = { scope: 'exact_arguments', forMs: HOUR } as const;
  const approved = await made.approvals.approve({ approvalId, approver: BOB, remember, reason: 'daily' });
  const { rule } = approved as { rule: { id: string } };
  await made.approvals.idle();
  const now = made.clock.now();
  const events = await approvalEvents(made, record);
  expect(events.find(({ type }) => type === 'ai.agent.approval.rule_made')).toEqual({
    id: rule.id,
    type: 'ai.agent.approval.rule_made',
    time: iso(now),
    tenantid: 'acme',
    data: {
      ...membersAbout(record, question),
      rule_id: rule.id,
      by: BOB.id,
      scope: 'exact_arguments',
      agent_only: true,
      any_policy_version: false,
      expires_at: iso(now + HOUR),
      reason: 'daily',
    },
  });
  expect(made.approvals.rules('acme')).toEqual([
    {
      id: rule.id,
      tenantId: 'acme',
      agentDid: 'did:agent:a',
      userDid: USER,
      toolId: 'send',
      contentHash: binding.contentHash,
      reason: 'requires_confirmation',
      inputHash: binding.inputHash,
      policyVersion: '1',
      madeAt: now,
      expiresAt: now + HOUR,
      madeBy: BOB.id,
      maker: { tenant_id: 'acme', agent_did: BOB.id },
      approvalId,
      why: 'daily',
    },
  ]);
  const capability_token = await made.token({ user_did: USER });
  const again = await made.ask({ tool_id: 'send', parameters: { n: 1 }, capability_token });
  expect(again.state).toBe('COMPLETED');
  await made.approvals.revokeRule(ADMIN, rule.id);
  const [used, revoked] = await approvalEvents(made);
  expect(used).toMatchObject({ type: 'ai.agent.approval.decided', tenantid: 'acme' });
  expect(used?.data).toEqual({
    tenant_id: 'acme',
    agent_did: 'did:agent:a',
    user_did: USER,
    tool_id: 'send',
    tool_version: '1.0.0',
    input_hash: binding.inputHash,
    decision: 'approved',
    by: `rule:${rule.id}`,
    rule_id: rule.id,
  });
  expect(revoked).toMatchObject({ type: 'ai.agent.approval.rule_revoked', tenantid: 'acme' });
  const by = { by: ADMIN.id, agent_did: 'did:agent:a' };
  expect(revoked?.data).toEqual({ tenant_id: 'acme', tool_id: 'send', rule_id: rule.id, ...by });
});

test('AUD-01.5 a rule for every agent and every policy says so, and names no agent when it is revoked', async () => {
  const made = await approvalsOf();
  const { record, approvalId } = await askedFor(made, 'send');
  const remember = { scope: 'tool', forMs: HOUR, agentOnly: false, anyPolicyVersion: true } as const;
  await made.approvals.approve({ approvalId, approver: ADMIN, remember });
  await made.approvals.idle();
  const [rule] = made.approvals.rules('acme');
  for (const member of ['agentDid', 'userDid', 'inputHash', 'policyVersion', 'why'])
    expect(rule).not.toHaveProperty(member);
  const event = (await approvalEvents(made, record)).find(({ type }) => type === 'ai.agent.approval.rule_made');
  expect(event?.data).toMatchObject({ scope: 'tool', agent_only: false, any_policy_version: true });
  expect(event?.data).not.toHaveProperty('reason');
  // A call without a user is covered too.
  expect(await made.ask({ tool_id: 'send', parameters: { n: 3 } })).toMatchObject({ state: 'COMPLETED' });
  await made.approvals.revokeRule(ADMIN, rule?.id ?? '', 'over');
  const [used, revoked] = await approvalEvents(made);
  expect(used?.data).not.toHaveProperty('user_did');
  expect(revoked?.data).toEqual({
    tenant_id: 'acme',
    tool_id: 'send',
    rule_id: rule?.id,
    by: ADMIN.id,
    reason: 'over',
  });
});

test('AUD-01.5 a delegation is kept and on record whole', async () => {
  const made = await approvalsOf();
  const carol = approver('did:user:carol', { names: ['did:agent:carol', 'did:user:carol'] });
  const lent = await made.approvals.delegate({ approver: carol, to: BOB.id, forMs: HOUR, reason: 'on leave' });
  const { id } = lent as { id: string };
  const now = made.clock.now();
  const kept = {
    id,
    tenantId: 'acme',
    from: ['did:user:carol', 'did:agent:carol'],
    roles: ['approver'],
    to: BOB.id,
    madeAt: now,
    until: now + HOUR,
    reason: 'on leave',
  };
  expect(lent).toEqual(kept);
  expect(await made.approvals.delegations('acme')).toEqual([kept]);
  const plain = await made.approvals.delegate({ approver: carol, to: ALICE.id, forMs: HOUR });
  expect(plain).not.toHaveProperty('reason');
  await made.approvals.endDelegation(ADMIN, id);
  const data = {
    tenant_id: 'acme',
    delegation_id: id,
    by: 'did:user:carol',
    from: 'did:user:carol',
    to: BOB.id,
    until: iso(now + HOUR),
    reason: 'on leave',
  };
  const common = { type: 'ai.agent.approval.delegated', time: iso(now), tenantid: 'acme' };
  const [first, second, ended] = await approvalEvents(made);
  expect(first).toEqual({ ...common, id: `${id}:made`, data: { ...data, what: 'made' } });
  expect(second?.data).not.toHaveProperty('reason');
  expect(ended).toEqual({ ...common, id: `${id}:ended`, data: { ...data, by: ADMIN.id, what: 'ended' } });
});
