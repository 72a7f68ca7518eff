import { describe, expect, test } from 'vitest';
import { parseApprovalTerms } from '../../approval-terms-file.ts';
import { ALICE, type ApprovalsUnderTest, approvalsOf, BOB, factsOf, questionOf, rowOf } from '../approvals.fixture.ts';

// Each failure here was reported by users of other systems.

const pay = (made: ApprovalsUnderTest, n: number, more: object = {}) =>
  made.ask({ tool_id: 'pay', parameters: { n }, ...more });

describe('known failures of others', () => {
  test('ORC-05.3 a decision does not reach another call that waits, though it is the same call once more', async () => {
    const made = await approvalsOf();
    const [one, other] = [await pay(made, 1), await pay(made, 1)];
    await made.approvals.approve({ approvalId: questionOf(one).approvalId, approver: ALICE });
    await made.approvals.idle();
    expect(await rowOf(made, one)).toMatchObject({ state: 'COMPLETED' });
    expect(await rowOf(made, other)).toMatchObject({ state: 'AUTHORIZED' });
    await made.approvals.deny({ approvalId: questionOf(other).approvalId, approver: ALICE });
    expect(made.ran).toHaveLength(1);
  });

  test('ORC-05.7 a declined call does not run: not by a later approval, not by a sweep, not by a resume', async () => {
    const made = await approvalsOf();
    const waiting = await pay(made, 1);
    const { approvalId, binding, expiresAt } = questionOf(waiting);
    await made.approvals.deny({ approvalId, approver: ALICE });
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ code: 'E3817' });
    await made.approvals.sweep();
    await made.approvals.idle();
    await expect(made.resume('acme', waiting.invocationId, { approvalId, binding, expiresAt })).rejects.toThrow();
    expect(made.ran).toEqual([]);
  });

  test('ORC-05 of an approval and a no at the same moment on two instances one counts, and both are told which', async () => {
    for (let round = 0; round < 10; round += 1) {
      const made = await approvalsOf();
      const other = made.open();
      const waiting = await pay(made, 1);
      const { approvalId } = questionOf(waiting);
      const [yes, no] = await Promise.all([
        made.approvals.approve({ approvalId, approver: ALICE }),
        other.deny({ approvalId, approver: BOB }),
      ]);
      await made.approvals.idle();
      await other.idle();
      const row = await rowOf(made, waiting);
      const won = 'state' in yes;
      expect('state' in no).toBe(!won);
      expect(won ? no : yes).toMatchObject({ code: 'E3817', details: { outcome: won ? 'approved' : 'denied' } });
      expect(row.state).toBe(won ? 'COMPLETED' : 'DENIED');
      expect(made.ran).toHaveLength(won ? 1 : 0);
    }
  });

  test('ORC-05.3 two questions at once never share an id, and each yes runs its own call once', async () => {
    const made = await approvalsOf();
    const calls = await Promise.all(Array.from({ length: 12 }, (_, n) => pay(made, n)));
    const ids = calls.map((record) => questionOf(record).approvalId);
    expect(new Set(ids).size).toBe(12);
    for (const approvalId of ids) {
      await Promise.all([ALICE, BOB].map((who) => made.approvals.approve({ approvalId, approver: who })));
      await made.approvals.idle();
    }
    expect(made.ran.map(({ n }) => n).sort()).toEqual(Array.from({ length: 12 }, (_, n) => n).sort());
  });

  test('ORC-05 what the caller stated is not lost on resume: session, phase, origin, key, user', async () => {
    const made = await approvalsOf();
    const token = await made.token({ user_did: 'did:user:u', session_id: 's' });
    const execution_options = { phase: 'executor' as const, claim_source: 'web', idempotency_key: 'k' };
    const waiting = await pay(made, 1, { capability_token: token, execution_options });
    await made.approvals.approve({ approvalId: questionOf(waiting).approvalId, approver: ALICE });
    await made.approvals.idle();
    const kept = {
      userDid: 'did:user:u',
      sessionId: 's',
      phase: 'executor',
      claimSource: 'web',
      agentDid: 'did:agent:a',
    };
    expect(waiting).toMatchObject(kept);
    expect(await rowOf(made, waiting)).toMatchObject({ ...kept, state: 'COMPLETED' });
    const again = await pay(made, 1, { capability_token: token, execution_options });
    expect(again).toMatchObject({ invocationId: waiting.invocationId, state: 'COMPLETED' });
    expect(made.ran).toHaveLength(1);
  });

  test('ORC-05 an escalation to nobody is refused when it is configured', () => {
    const empty = '[[rule]]\nescalation = [{ after = "1h", approvers = [] }]';
    expect(() => parseApprovalTerms(empty, 'approvals.toml', { fourEyes: true })).toThrow(/nobody could answer/);
  });

  test('ORC-05.5 an expiry is told as an expiry, to the caller and in the audit, and never as a no', async () => {
    const made = await approvalsOf();
    const waiting = await pay(made, 1);
    made.clock.pass(24 * 3_600_000);
    await made.approvals.sweep();
    await made.approvals.idle();
    const row = await rowOf(made, waiting);
    expect(row.failure).toMatchObject({ code: 'E3808', message: expect.not.stringMatching(/den(y|ied)/) });
    expect((await factsOf(made, waiting)).map(({ type }) => type)).toEqual(['requested', 'expired']);
  });

  test('ORC-05 a question is no error that a retry swallows: the same request neither runs nor asks again', async () => {
    const made = await approvalsOf();
    const execution_options = { idempotency_key: 'k' };
    const waiting = await pay(made, 1, { execution_options });
    const again = await made.call(
      { tool_id: 'pay', parameters: { n: 1 }, execution_options },
      { signal: AbortSignal.timeout(100) },
    );
    expect(again.state).not.toBe('COMPLETED');
    expect(await made.approvals.pending('acme', 10, 0)).toMatchObject([{ request: questionOf(waiting) }]);
    expect(made.ran).toEqual([]);
  });

  test('ORC-05.3 an approval given twice runs the call once', async () => {
    const made = await approvalsOf();
    const waiting = await pay(made, 1);
    const { approvalId } = questionOf(waiting);
    const answers = await Promise.all([1, 2, 3].map(() => made.approvals.approve({ approvalId, approver: ALICE })));
    await made.approvals.idle();
    for (let turn = 0; turn < 3; turn += 1) {
      await made.approvals.sweep();
      await made.approvals.idle();
    }
    expect(answers.filter((answer) => 'state' in answer)).toHaveLength(1);
    expect(made.ran).toHaveLength(1);
  });

  test('a call that was withdrawn while it waited cannot be approved any more', async () => {
    const made = await approvalsOf();
    const waiting = await pay(made, 1);
    expect(await made.approvals.withdraw('globex', waiting.invocationId, 'x')).toBe(false);
    expect(await made.approvals.withdraw('acme', waiting.invocationId, 'did:agent:a', 'changed my mind')).toBe(true);
    expect(await rowOf(made, waiting)).toMatchObject({ state: 'ABORTED', failure: { code: 'E3805' } });
    const { approvalId } = questionOf(waiting);
    expect(await made.approvals.approve({ approvalId, approver: ALICE })).toMatchObject({ code: 'E3817' });
    expect(await made.approvals.withdraw('acme', waiting.invocationId, 'x')).toBe(false);
    expect(made.ran).toEqual([]);
  });
});
