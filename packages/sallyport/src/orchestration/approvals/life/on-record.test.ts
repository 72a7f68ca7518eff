import { sha256 } from '@sallyport/std/sha256';
import { expect, test } from 'vitest';
import { digestOf } from '../../approvals.ts';
import { ALICE, approvalEvents, approvalsOf, askedFor, BOB, iso, membersAbout, rowOf } from '../approvals.fixture.ts';

const HOUR = 3_600_000;
const USER = 'did:user:u';
const OPS = 'mailto:ops@example.com';

test('AUD-01.5 ORC-03.13 the question, votes with a change, and the approval are on record whole', async () => {
  const made = await approvalsOf({ terms: '[[rule]]\nquorum = 2' });
  const { record, ...question } = await askedFor(made, 'pay');
  const { approvalId, binding, expiresAt } = question;
  const edit = { approvalId, approver: ALICE, parameters: { n: 2 }, reason: 'less' };
  const { digest } = (await made.approvals.approve(edit)) as { digest: string };
  await made.approvals.approve({ approvalId, approver: BOB, digest });
  await made.approvals.idle();
  const [vote] = await made.approvalStore.votes('acme', approvalId);
  const edited = vote?.binding ?? binding;
  expect(vote).toMatchObject({ approver: ALICE.id, inNameOf: ALICE.id, reason: 'less', parameters: { n: 2 } });
  expect(edited.inputHash).not.toBe(binding.inputHash);
  const time = iso(made.clock.now());
  const common = membersAbout(record, question);
  const ofEdit = { ...common, input_hash: edited.inputHash, binding_digest: digest };
  expect(digestOf(edited)).toBe(digest);
  expect(await approvalEvents(made, record)).toEqual([
    {
      id: `${approvalId}:level-0`,
      type: 'ai.agent.approval.requested',
      time,
      tenantid: 'acme',
      data: {
        ...common,
        reason: 'requires_approval',
        level: 0,
        approvers: ['role:approver'],
        quorum: 2,
        terms: 'rule 1',
        binding_digest: digestOf(binding),
        expires_at: iso(expiresAt),
      },
    },
    {
      id: `${approvalId}:vote:${ALICE.id}:${digest}`,
      type: 'ai.agent.approval.voted',
      time,
      tenantid: 'acme',
      data: {
        ...ofEdit,
        by: ALICE.id,
        in_name_of: ALICE.id,
        via: 'token',
        votes: 1,
        quorum: 2,
        reason: 'less',
        edited: true,
      },
    },
    {
      id: `${approvalId}:closed`,
      type: 'ai.agent.approval.decided',
      time,
      tenantid: 'acme',
      data: {
        ...ofEdit,
        decision: 'approved',
        by: BOB.id,
        by_hash: sha256(BOB.id),
        approvers: [ALICE.id, BOB.id],
        edited: true,
        input_hash_before: binding.inputHash,
      },
    },
  ]);
});

test('AUD-01.5 a vote and a denial say no more than there is to say', async () => {
  const made = await approvalsOf({ terms: '[[rule]]\nquorum = 2' });
  const { record, ...question } = await askedFor(made, 'pay', {});
  const { approvalId, binding } = question;
  await made.approvals.approve({ approvalId, approver: ALICE });
  await made.approvals.deny({ approvalId, approver: BOB });
  const common = { ...membersAbout(record, question), binding_digest: digestOf(binding) };
  const [, voted, decided] = await approvalEvents(made, record);
  expect(voted?.data).toEqual({
    ...common,
    by: ALICE.id,
    in_name_of: ALICE.id,
    via: 'token',
    votes: 1,
    quorum: 2,
  });
  expect(decided?.data).toEqual({ ...common, decision: 'denied', by: BOB.id, by_hash: sha256(BOB.id) });
});

test('AUD-01.10 AUD-01.3 the event of the end of a denied call says user, session, tool, input and approval, as its row does', async () => {
  const made = await approvalsOf();
  const { record, approvalId, binding } = await askedFor(made, 'pay');
  made.clock.pass(1000);
  await made.approvals.deny({ approvalId, approver: BOB, reason: 'no' });
  const { waiting: _waiting, ...before } = record;
  expect(await rowOf(made, record)).toEqual({
    ...before,
    state: 'DENIED',
    failure: {
      failed: true,
      code: 'E3807',
      message: 'An approver denied the call; it did not run. Reason given: no',
      details: { approval_id: approvalId, reason: 'no' },
    },
    metadata: { ...record.metadata, completed_at: iso(made.clock.now()) },
  });
  const end = (await made.eventsOf(record.invocationId)).at(-1);
  expect(end).toMatchObject({ type: 'ai.agent.tool.failed', time: iso(made.clock.now()), tenantid: 'acme' });
  expect(end?.data).toEqual({
    agent_did: 'did:agent:a',
    approval_id: approvalId,
    capabilities: [],
    door: 'library',
    error: { category: 'PolicyBlocked', code: 'approval_denied', e_code: 'E3807', retryable: false },
    input_hash: binding.inputHash,
    invocation_id: record.invocationId,
    session_id: 's',
    state: 'DENIED',
    tenant_id: 'acme',
    tool_id: 'pay',
    tool_version: '1.0.0',
    user_did: USER,
  });
});

test('AUD-01.5 ORC-05.5 an escalation, an expiry and a withdrawal are on record each as what it is', async () => {
  const made = await approvalsOf();
  const { record, ...question } = await askedFor(made, 'pay');
  const { approvalId, binding, expiresAt } = question;
  made.clock.pass(HOUR);
  await made.approvals.sweep();
  const common = { ...membersAbout(record, question), binding_digest: digestOf(binding) };
  const [, escalated] = await approvalEvents(made, record);
  expect(escalated).toEqual({
    id: `${approvalId}:level-1`,
    type: 'ai.agent.approval.escalated',
    time: iso(made.clock.now()),
    tenantid: 'acme',
    data: {
      ...common,
      reason: 'requires_approval',
      level: 1,
      approvers: ['role:approver', 'role:admin'],
      quorum: 1,
      terms: 'default',
      expires_at: iso(expiresAt),
    },
  });
  made.clock.pass(23 * HOUR);
  await made.approvals.sweep();
  await made.approvals.idle();
  const expired = (await approvalEvents(made, record)).at(-1);
  expect(expired).toMatchObject({ id: `${approvalId}:closed`, type: 'ai.agent.approval.expired' });
  expect(expired?.data).toEqual({ ...common, decision: 'expired', by: 'layer', by_hash: sha256('layer') });
  expect((await rowOf(made, record)).failure?.details).toEqual({ approval_id: approvalId });
  const other = await askedFor(made, 'send');
  await made.approvals.withdraw('acme', other.record.invocationId, USER, 'not needed');
  const withdrawn = (await approvalEvents(made, other.record)).at(-1);
  expect(withdrawn?.type).toBe('ai.agent.approval.decided');
  expect(withdrawn?.data).toMatchObject({ decision: 'withdrawn', by: USER, reason: 'not needed' });
  expect(await rowOf(made, other.record)).toMatchObject({
    state: 'ABORTED',
    failure: { details: { approval_id: other.approvalId, reason: 'not needed' } },
  });
});

test('ORC-03 notices of a question and of its end say whole what an approver needs', async () => {
  const made = await approvalsOf({
    terms: `[[rule]]\ntools = ["send"]\napprovers = ["${OPS}", "role:approver", "did:user:x"]`,
    approvals: { shownArguments: JSON.stringify },
  });
  const { record, ...question } = await askedFor(made, 'send');
  const { approvalId, binding, requestedAt, expiresAt } = question;
  const common = {
    tenantId: 'acme',
    approvalId,
    invocationId: record.invocationId,
    toolId: 'send',
    toolVersion: '1.0.0',
    agentDid: 'did:agent:a',
    userDid: USER,
    reason: 'requires_confirmation',
    bindingDigest: digestOf(binding),
    requestedAt,
    expiresAt,
    level: 0,
  };
  const answerToken = expect.stringMatching(/^spa_[\w-]{43}$/);
  const askedNotice = {
    ...common,
    kind: 'asked',
    sideEffect: 'irreversible',
    prompt: 'Really?',
    argumentsText: '{"n":1}',
    approvers: [{ id: OPS, answerToken }, { id: 'role:approver' }, { id: 'did:user:x' }],
  };
  expect(made.notices).toEqual([askedNotice]);
  const token = made.notices[0]?.approvers[0]?.answerToken ?? '';
  expect(await made.approvalStore.link(sha256(token))).toMatchObject({ approver: OPS, approvalId, expiresAt });
  made.clock.pass(1);
  await made.approvals.answer({ token, decision: 'deny', reason: 'no' });
  await made.approvals.idle();
  expect(made.notices[1]).toEqual({
    ...common,
    kind: 'decided',
    approvers: [],
    decision: { outcome: 'denied', by: OPS, reason: 'no' },
  });
  const other = await askedFor(made, 'pay', {});
  expect(made.notices[2]).not.toHaveProperty('prompt');
  expect(made.notices[2]).not.toHaveProperty('userDid');
  made.clock.pass(24 * HOUR);
  await made.approvals.deny({ approvalId: other.approvalId, approver: ALICE });
  await made.approvals.idle();
  expect(made.notices[3]).toMatchObject({ kind: 'expired', decision: { outcome: 'expired', by: 'layer' } });
  expect(made.notices[3]).not.toHaveProperty('userDid');
  expect(made.notices[3]?.decision).not.toHaveProperty('reason');
});
