import { setImmediate } from 'node:timers/promises';
import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import type { CapabilityClaims } from '../../../../api/schemas/capability-token.ts';
import { memoryApprovalStore } from '../../../../test/stores/approvals/memory-approval-store.ts';
import type { ConfirmationReason } from '../../../domain/invocation/waiting-call.ts';
import type { ApprovalStore, StoredRule } from '../../approval-store.port.ts';
import { ADMIN, ALICE, type ApprovalsUnderTest, approvalsOf, approver, BOB, questionOf } from '../approvals.fixture.ts';
import { createClientConfirmations } from '../client-confirmations.ts';

const HOUR = 3_600_000;
const PAY = { tool_id: 'pay', parameters: { n: 1 } };
const SEND = { tool_id: 'send', parameters: { n: 1 } };
const CAROL = 'did:user:carol';

const claimsOf = (agent_did: string, root?: string): CapabilityClaims => ({
  tenant_id: 'acme',
  agent_did,
  tool_id: '*',
  allowed_operations: [],
  exp: 1,
  iat: 1,
  iss: 'test',
  ...(root === undefined ? {} : { root_holder: { tenant_id: 'acme', agent_did: root } }),
});

const codeOf = async (answer: Promise<unknown>): Promise<string> => {
  const given = await answer;
  return isFailure(given) ? given.code : 'taken';
};
const waits = async (made: ApprovalsUnderTest, request: Parameters<ApprovalsUnderTest['ask']>[0] = PAY) =>
  questionOf(await made.ask(request)).approvalId;

/** Puts another question into the row of a call that waits. */
async function withReason(made: ApprovalsUnderTest, reason: ConfirmationReason, more: object = {}) {
  const record = await made.call({ ...SEND, capability_token: await made.token({ user_did: 'did:user:u' }) });
  const approval = questionOf(record);
  const { waiting } = record;
  if (waiting === undefined) throw new Error('the call does not wait');
  const wait = { for: 'approval', approval: { ...approval, reason, ...more } } as const;
  const row = { ...record, waiting: { ...waiting, wait } };
  await made.parts.ledger.commit({ record: row, events: [], durability: 'synchronous' });
  return approval.approvalId;
}

describe('a quorum', () => {
  const terms = `[[rule]]\napprovers = ["did:agent:one", "did:agent:two", "${CAROL}"]\nquorum = 2`;

  test('ORC-05.8 counts a person once, under however many names with credentials of the same root', async () => {
    const made = await approvalsOf({ terms });
    const approvalId = await waits(made);
    const [one, two] = ['did:agent:one', 'did:agent:two'].map((id) =>
      approver(id, { claims: claimsOf(id, 'did:agent:root') }),
    ) as [typeof ALICE, typeof ALICE];
    expect(await made.approvals.approve({ approvalId, approver: one })).toMatchObject({ state: 'pending', votes: 1 });
    expect(await made.approvals.approve({ approvalId, approver: two })).toMatchObject({ state: 'pending', votes: 1 });
    const other = approver('did:agent:two', { claims: claimsOf('did:agent:two') });
    const end = await made.approvals.approve({ approvalId, approver: other });
    expect(end).toMatchObject({ state: 'approved', votes: 2 });
  });

  test('ORC-05.8 counts for a vote in the name of another person neither of the two again', async () => {
    const made = await approvalsOf({ terms });
    const approvalId = await waits(made);
    const carol = approver(CAROL, { claims: claimsOf('did:agent:x', 'did:agent:carol') });
    const bob = approver(BOB.id, { claims: claimsOf('did:agent:y', 'did:agent:bob') });
    await made.approvals.delegate({ approver: carol, to: BOB.id, forMs: HOUR });
    expect(await made.approvals.approve({ approvalId, approver: bob })).toMatchObject({ state: 'pending', votes: 1 });
    for (const root of ['did:agent:bob', 'did:agent:carol']) {
      const same = approver('did:agent:one', { claims: claimsOf('did:agent:one', root) });
      expect(await made.approvals.approve({ approvalId, approver: same }), root).toMatchObject({ votes: 1 });
    }
    const other = approver('did:agent:two', { claims: claimsOf('did:agent:two') });
    expect(await made.approvals.approve({ approvalId, approver: other })).toMatchObject({ state: 'approved' });
  });

  test('ORC-05.8 a vote is kept whole, and the end names all whose votes counted', async () => {
    const made = await approvalsOf({ terms: '[[rule]]\nquorum = 2', approvals: { resume: async () => undefined } });
    const record = await made.ask(PAY);
    const { approvalId, binding, requestedAt, expiresAt } = questionOf(record);
    const claims = claimsOf(ALICE.id);
    await made.approvals.approve({ approvalId, approver: { ...ALICE, claims }, reason: 'fine' });
    await made.approvals.approve({ approvalId, approver: BOB });
    await made.approvals.idle();
    const now = made.clock.now();
    const vote = { tenantId: 'acme', approvalId, binding, votedAt: now };
    expect(await made.approvals.votes('acme', approvalId)).toEqual([
      { ...vote, approver: ALICE.id, inNameOf: ALICE.id, reason: 'fine', claims },
      { ...vote, approver: BOB.id, inNameOf: BOB.id },
    ]);
    expect(await made.approvals.outcome('acme', approvalId)).toEqual({
      tenantId: 'acme',
      approvalId,
      invocationId: record.invocationId,
      outcome: 'approved',
      closedAt: now,
      by: BOB.id,
      approvers: [ALICE.id, BOB.id],
      binding,
      asked: { reason: 'requires_approval', at: requestedAt, until: expiresAt },
      given: { approvalId, binding, expiresAt: now + 900_000, by: `${ALICE.id}, ${BOB.id}` },
      noted: true,
      finished: false,
    });
  });
});

describe('a standing rule', () => {
  const always = (made: ApprovalsUnderTest, approvalId: string, more: object = {}, who = ALICE) =>
    codeOf(
      made.approvals.approve({
        approvalId,
        approver: who,
        remember: { scope: 'exact_arguments', forMs: HOUR, ...more },
      }),
    );

  test('ORC-03 takes a credential with a role: none is made by link or at the client', async () => {
    const made = await approvalsOf({ terms: '[[rule]]\napprovers = ["mailto:ops", "role:approver"]' });
    const link = approver('mailto:ops', { via: 'link' });
    const approvalId = await waits(made);
    expect(await always(made, approvalId, {}, link)).toBe('E3213');
    const user = approver('did:user:u', { via: 'client', agentDid: 'did:agent:a', userDid: 'did:user:u' });
    const capability_token = await made.token({ user_did: 'did:user:u' });
    const send = await waits(made, { ...SEND, capability_token });
    expect(await always(made, send, {}, user)).toBe('E3213');
    expect(await made.approvals.pending('acme', 10, 0)).toHaveLength(2);
    expect(await always(made, approvalId)).toBe('taken');
  });

  test('ORC-03 about what an executor asks holds for the very arguments alone', async () => {
    const made = await approvalsOf();
    const approvalId = await withReason(made, 'executor');
    expect(await always(made, approvalId, { scope: 'tool' })).toBe('E3801');
    expect(await always(made, approvalId)).toBe('taken');
  });

  test('ORC-03 lasts as long as the limit says, where the terms of its tool allow one', async () => {
    const made = await approvalsOf({
      terms: '[[rule]]\ntools = ["send"]\nremember = "never"',
      approvals: { limits: { rememberMsMax: HOUR } },
    });
    expect(await always(made, await waits(made, SEND))).toBe('E3801');
    const approvalId = await waits(made);
    expect(await always(made, approvalId, { forMs: HOUR + 1 })).toBe('E3801');
    expect(await always(made, approvalId, { scope: 'tool', forMs: HOUR })).toBe('taken');
    const two = await approvalsOf({ terms: '[[rule]]\nquorum = 2' });
    expect(await always(two, await waits(two))).toBe('E3801');
  });

  test('ORC-03 is one of ten thousand of its tenant at most', async () => {
    const made = await approvalsOf();
    const rule = (id: string): StoredRule => ({
      id,
      tenantId: 'acme',
      toolId: 'other',
      contentHash: 'c',
      reason: 'trust',
      madeAt: 0,
      expiresAt: made.clock.now() + HOUR,
      madeBy: ALICE.id,
      approvalId: id,
    });
    for (let n = 1; n < 10_000; n += 1) await made.approvalStore.addRule(rule(`${n}`));
    await using approvals = made.open();
    await approvals.start();
    const remember = { scope: 'tool', forMs: HOUR } as const;
    const make = async (request = PAY) =>
      codeOf(approvals.approve({ approvalId: await waits(made, request), approver: ALICE, remember }));
    expect(await make()).toBe('taken');
    expect(approvals.rules('acme')).toHaveLength(10_000);
    expect(await make(SEND)).toBe('E3810');
  });

  test('ORC-03.9 covers no call of the person who made it, where nobody decides on their own calls', async () => {
    const root = 'did:agent:root';
    const remember = { scope: 'tool', forMs: HOUR, agentOnly: false } as const;
    const admin = { ...ADMIN, claims: claimsOf(ADMIN.id, root) };
    for (const [terms, own] of [
      ['', 'AUTHORIZED'],
      ['[[rule]]\nfour_eyes = false', 'COMPLETED'],
    ] as const) {
      const made = await approvalsOf({ terms });
      await made.approvals.approve({ approvalId: await waits(made, SEND), approver: admin, remember });
      await made.approvals.idle();
      const ask = async (agent_did: string) => {
        const capability_token = await made.token({ agent_did });
        return (await made.ask({ ...SEND, capability_token })).state;
      };
      expect([await ask('did:agent:b'), await ask(root)], terms).toEqual(['COMPLETED', own]);
    }
  });

  test('AUD-01.5 AUD-07.5 is stored with its event, and counts here once that is on record', async () => {
    const order: string[] = [];
    const inner = memoryApprovalStore();
    const store: ApprovalStore = {
      ...inner,
      addRule: async (rule, events) => {
        await inner.addRule(rule, events);
        order.push('stored');
      },
      addDelegation: async (delegation, events) => {
        await inner.addDelegation(delegation, events);
        order.push('stored');
      },
    };
    const made = await approvalsOf({ approvals: { store } });
    const approvalId = await waits(made);
    const approvals = made.open({
      ledger: {
        commit: async (entry) => {
          await setImmediate();
          order.push(...entry.events.map(({ type }) => type));
          order.push(...approvals.rules('acme').map(() => 'counts'));
        },
      },
      resume: async () => undefined,
    });
    const [remember] = [{ scope: 'tool', forMs: HOUR } as const];
    const { rule } = (await approvals.approve({ approvalId, approver: ALICE, remember })) as { rule: StoredRule };
    await approvals.idle();
    const own = order.filter((each) => each !== 'ai.agent.approval.decided');
    expect(own).toEqual(['stored', 'ai.agent.approval.rule_made']);
    expect(approvals.rules('acme')).toHaveLength(1);
    order.length = 0;
    expect(await approvals.revokeRule(ALICE, 'other')).toBeUndefined();
    await approvals.revokeRule(ALICE, rule.id);
    expect(order).toEqual(['ai.agent.approval.rule_revoked']);
    await approvals.delegate({ approver: ALICE, to: BOB.id, forMs: HOUR });
    expect(order.slice(1)).toEqual(['stored', 'ai.agent.approval.delegated']);
  });
});

test('ORC-03 a link whose answer was refused is good again once the answer is there, until the approval ends', async () => {
  const inner = memoryApprovalStore();
  const freeLink: ApprovalStore['freeLink'] = async (hash) => {
    await setImmediate();
    await inner.freeLink(hash);
  };
  const made = await approvalsOf({
    terms: '[[rule]]\napprovers = ["mailto:ops"]\nexpires_after = "1h"',
    approvals: { store: { ...inner, freeLink } },
  });
  await waits(made);
  const token = made.notices[0]?.approvers[0]?.answerToken ?? '';
  const wrong = { token, decision: 'approve' as const, digest: 'f'.repeat(64) };
  expect(await codeOf(made.approvals.answer(wrong))).toBe('E3817');
  made.clock.pass(HOUR - 1);
  const good = { token, decision: 'approve' as const, digest: made.notices[0]?.bindingDigest ?? '', reason: 'fine' };
  expect(await codeOf(made.approvals.answer(good))).toBe('taken');
  await made.approvals.idle();
  expect((await made.approvals.decided('acme', 1, 0))[0]).toMatchObject({ by: 'mailto:ops', reason: 'fine' });
  expect(await codeOf(made.approvals.answer(good))).toBe('E3817');
  await waits(made);
  const late = made.notices.findLast(({ kind }) => kind === 'asked')?.approvers[0]?.answerToken ?? '';
  made.clock.pass(HOUR);
  // The first that is late does not use up the link: the second is late too, and not refused as used.
  for (let turn = 0; turn < 2; turn += 1)
    expect(await codeOf(made.approvals.answer({ token: late, decision: 'deny' }))).toBe('E3808');
});

test.each(['vote', 'close'] as const)(
  'ORC-03.5 ORC-06 a link whose answer was cut off before its %s was stored is good for the same answer',
  async (cutOffAt) => {
    const inner = memoryApprovalStore();
    let isAway = true;
    const away = () => {
      isAway = false;
      return Promise.reject(new ToolLayerError('E3812', 'away'));
    };
    const store: ApprovalStore = {
      ...inner,
      vote: (vote) => (isAway && cutOffAt === 'vote' ? away() : inner.vote(vote)),
      close: (closing) => (isAway && cutOffAt === 'close' ? away() : inner.close(closing)),
    };
    const terms = '[[rule]]\napprovers = ["mailto:ops"]';
    const made = await approvalsOf({ terms, approvals: { store } });
    const approvalId = await waits(made);
    const token = made.notices[0]?.approvers[0]?.answerToken ?? '';
    const digest = made.notices[0]?.bindingDigest ?? '';
    await expect(made.approvals.answer({ token, decision: 'approve', digest })).rejects.toMatchObject({
      code: 'E3812',
    });
    const other = { token, decision: 'approve', digest: 'f'.repeat(64) } as const;
    expect(await codeOf(made.approvals.answer(other))).toBe('E3817');
    if (cutOffAt === 'close') expect(await codeOf(made.approvals.answer({ token, decision: 'deny' }))).toBe('E3817');
    expect(await made.approvals.answer({ token, decision: 'approve' })).toMatchObject({
      approvalId,
      state: 'approved',
    });
    await made.approvals.idle();
    expect(made.ran).toHaveLength(1);
    expect(await codeOf(made.approvals.answer({ token, decision: 'approve', digest }))).toBe('E3817');
  },
);

test('ORC-05.5 who decides late learns how the approval ended', async () => {
  const made = await approvalsOf();
  const decide = async (decision: 'approve' | 'deny', approvalId: string) => {
    await made.approvals[decision]({ approvalId, approver: ALICE });
    await made.approvals.idle();
    return made.approvals.find('acme', approvalId);
  };
  expect(await decide('approve', await waits(made))).toMatchObject({ code: 'E3817', details: { outcome: 'approved' } });
  expect(await decide('deny', await waits(made))).toMatchObject({ code: 'E3817', details: { outcome: 'denied' } });
  const late = await waits(made);
  made.clock.pass(24 * HOUR);
  expect(await decide('deny', late)).toMatchObject({ code: 'E3808', details: { outcome: 'expired' } });
  expect(await made.approvals.find('globex', late)).toMatchObject({ code: 'E3809' });
});

test('ORC-03 a call that runs already has no question, though its row still says what was asked', async () => {
  const made = await approvalsOf();
  const record = await made.ask(PAY);
  const { approvalId } = questionOf(record);
  await made.parts.ledger.commit({
    record: { ...record, state: 'EXECUTING' },
    events: [],
    durability: 'synchronous',
  });
  for (const decide of [made.approvals.approve, made.approvals.deny])
    expect(await codeOf(decide({ approvalId, approver: ALICE }))).toBe('E3809');
  expect(await made.approvals.withdraw('acme', record.invocationId, ADMIN.id)).toBe(false);
});

test('VIS-06 a client shows what the executor asks, and nothing that was not said', async () => {
  const made = await approvalsOf({ approvals: { clientReasons: ['executor', 'requires_confirmation'] } });
  const confirmations = createClientConfirmations({ approvals: made.approvals, shownArguments: JSON.stringify });
  const plain = await withReason(made, 'executor', { prompt: undefined });
  const pending = await made.approvals.find('acme', plain);
  if (isFailure(pending)) throw new Error(pending.message);
  const { binding, expiresAt } = pending.request;
  const by = { tenantId: 'acme', agentDid: 'did:agent:a', userDid: 'did:user:u' };
  expect(await confirmations.shown(by, plain)).toEqual({
    toolId: 'send',
    toolVersion: '1.0.0',
    reason: 'executor',
    argumentsText: '{"n":1}',
    bindingDigest: pending.digest,
    expiresAt,
  });
  const asked = await withReason(made, 'executor', { binding: { ...binding, question: 'It is odd.' } });
  expect(await confirmations.shown(by, asked)).toMatchObject({ question: 'It is odd.', prompt: 'Really?' });
  const other = await withReason(made, 'trust');
  expect(await confirmations.shown(by, other)).toBeUndefined();
});
