import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { CapabilityClaims } from '../../../../api/schemas/capability-token.ts';
import { ADMIN, ALICE, type ApprovalsUnderTest, approvalsOf, approver, BOB, questionOf } from '../approvals.fixture.ts';

const HOUR = 3_600_000;
const PAY = { tool_id: 'pay', parameters: { n: 1 } };
const SEND = { tool_id: 'send', parameters: { n: 1 } };

const codeOf = async (answer: Promise<unknown>): Promise<string> => {
  const given = await answer;
  return isFailure(given) ? given.code : 'taken';
};
/** What a decision of this person to approve ends as. */
const approves = async ({ approvals }: ApprovalsUnderTest, approvalId: string, who: typeof ALICE) =>
  codeOf(approvals.approve({ approvalId, approver: who }));
const waits = async (made: ApprovalsUnderTest, request: Parameters<ApprovalsUnderTest['ask']>[0]) =>
  questionOf(await made.ask(request)).approvalId;

const claimsOf = (more: Partial<CapabilityClaims>): CapabilityClaims => ({
  tenant_id: 'acme',
  agent_did: 'did:agent:x',
  tool_id: '*',
  allowed_operations: [],
  exp: 1,
  iat: 1,
  iss: 'test',
  ...more,
});

describe('who may decide', () => {
  test('ORC-03.11 whoever is asked later cannot decide before, and learns when', async () => {
    const terms = `[[rule]]\napprovers = ["${ALICE.id}"]\nescalation = [{ after = "1h", approvers = ["${BOB.id}"] }]`;
    const made = await approvalsOf({ terms });
    const approvalId = await waits(made, PAY);
    made.clock.pass(HOUR - 1);
    const early = await made.approvals.approve({ approvalId, approver: BOB });
    expect(early).toMatchObject({ code: 'E3213', message: expect.stringContaining('You are asked from') });
    expect(await approves(made, approvalId, approver('did:user:x'))).toBe('E3213');
    made.clock.pass(1);
    expect(await approves(made, approvalId, approver('did:user:x'))).toBe('E3213');
    expect(await approves(made, approvalId, BOB)).toBe('taken');
  });

  test('ORC-03 nobody decides without the role, or with a name that only looks like one', async () => {
    const made = await approvalsOf({ terms: '[[rule]]\napprovers = ["role:admin"]' });
    const approvalId = await waits(made, PAY);
    expect(await approves(made, approvalId, approver('did:user:x', { names: ['role:admin'] }))).toBe('E3213');
    expect(await approves(made, approvalId, approver('did:user:x', { roles: ['agent', 'operator'] }))).toBe('E3213');
    expect(await approves(made, approvalId, ADMIN)).toBe('taken');
  });

  test('ORC-03.9 whoever holds the credential that asked cannot decide, under whichever name', async () => {
    const made = await approvalsOf();
    const approvalId = await waits(made, PAY);
    const by = (agent_did: string) => approver('did:user:x', { claims: claimsOf({ agent_did }) });
    expect(await approves(made, approvalId, by('did:agent:a'))).toBe('E3213');
    expect(await approves(made, approvalId, by('did:agent:b'))).toBe('taken');
  });

  test('ORC-03 a link is answered in the name of its address, and has no role', async () => {
    const made = await approvalsOf();
    const approvalId = await waits(made, PAY);
    const link = approver('mailto:ops@example.com', { via: 'link', roles: ['approver'] });
    expect(await approves(made, approvalId, link)).toBe('E3213');
    const named = await approvalsOf({ terms: '[[rule]]\napprovers = ["mailto:ops@example.com"]' });
    const other = await waits(named, PAY);
    expect(await approves(named, other, { ...link, roles: [] })).toBe('taken');
  });

  test('VIS-06 the user at the client confirms nothing that takes two people, nor where the rule of the tool says so', async () => {
    const user = approver('did:user:u', {
      roles: [],
      via: 'client',
      agentDid: 'did:agent:a',
      userDid: 'did:user:u',
    });
    for (const [terms, expected] of [
      ['', 'taken'],
      ['[[rule]]\nquorum = 2', 'E3213'],
      ['[[rule]]\nat_client = false', 'E3213'],
    ] as const) {
      const made = await approvalsOf({ terms });
      const capability_token = await made.token({ user_did: 'did:user:u' });
      const approvalId = await waits(made, { ...SEND, capability_token });
      expect(await approves(made, approvalId, user), terms).toBe(expected);
      await made.approvals.idle();
      expect(made.ran).toHaveLength(expected === 'taken' ? 1 : 0);
    }
  });

  test('VIS-06 an agent without a user confirms none of its own calls', async () => {
    const made = await approvalsOf();
    const approvalId = await waits(made, SEND);
    const agent = approver('did:agent:a', { roles: [], via: 'client', agentDid: 'did:agent:a' });
    expect(await approves(made, approvalId, agent)).toBe('E3213');
    expect(await codeOf(made.approvals.deny({ approvalId, approver: agent }))).toBe('E3213');
  });
});

describe('who can be asked', () => {
  const ask = async (terms: string, user_did = ALICE.id) => {
    const made = await approvalsOf({ terms });
    const record = await made.ask({ ...PAY, capability_token: await made.token({ user_did }) });
    return record.failure?.code ?? record.state;
  };

  test('ORC-03 a call for which too few people are named besides the one who asks is refused at once', async () => {
    const list = (names: readonly string[], more = '') => `[[rule]]\napprovers = ${JSON.stringify(names)}\n${more}`;
    expect(await ask(list([ALICE.id]))).toBe('E3807');
    expect(await ask(list([ALICE.id]), BOB.id)).toBe('AUTHORIZED');
    expect(await ask(list([ALICE.id], 'four_eyes = false'))).toBe('AUTHORIZED');
    expect(await ask(list([ALICE.id, BOB.id], 'quorum = 2'))).toBe('E3807');
    expect(await ask(list([ALICE.id, BOB.id, 'did:user:carol'], 'quorum = 2'))).toBe('AUTHORIZED');
    expect(await ask(list(['did:agent:a']))).toBe('E3807');
    // Anybody may have the role.
    expect(await ask(list([ALICE.id, 'role:approver'], 'quorum = 2'))).toBe('AUTHORIZED');
  });

  test('ORC-03.9 whoever holds the root of the credential that asks is not somebody else', async () => {
    const made = await approvalsOf({ terms: `[[rule]]\napprovers = ["${ALICE.id}"]` });
    const { binding } = questionOf(await made.ask(PAY));
    const tool = made.parts.registry.find('acme', 'pay', '1.0.0');
    if (!('tool' in tool)) throw new Error('the tool is not there');
    const question = (root_holder: CapabilityClaims['root_holder']) =>
      made.approvals.question({
        reason: 'requires_approval',
        binding,
        tool: tool.tool,
        claims: claimsOf(root_holder === undefined ? {} : { root_holder }),
      });
    const root = { tenant_id: 'acme', agent_did: 'did:agent:root' };
    expect(question({ ...root, user_did: ALICE.id })).toMatchObject({ code: 'E3807' });
    expect(question({ ...root, agent_did: ALICE.id })).toMatchObject({ code: 'E3807' });
    expect(question({ ...root, agent_did: ALICE.id, user_did: BOB.id })).toHaveProperty('approvalId');
    expect(question(undefined)).toHaveProperty('approvalId');
  });

  test('ORC-03 of one tenant so many calls wait for a person at once; the next is refused, and runs nothing', async () => {
    const made = await approvalsOf({ approvals: { limits: { pendingMax: 2 } } });
    await waits(made, PAY);
    await waits(made, SEND);
    const refused = await made.ask(PAY);
    expect(refused).toMatchObject({ failure: { code: 'E3803', retryAfterMs: 60_000 } });
    expect(refused).not.toHaveProperty('waiting');
    // The count is set right by a sweep, when calls were decided meanwhile.
    for (const { request } of await made.approvals.pending('acme', 10, 0))
      await made.approvals.deny({ approvalId: request.approvalId, approver: BOB });
    await made.approvals.sweep();
    await waits(made, PAY);
    expect(made.ran).toEqual([]);
  });
});

describe('a delegation', () => {
  test('ORC-03 takes a role, another person, and ends at its limit', async () => {
    const made = await approvalsOf({ approvals: { limits: { delegationMsMax: HOUR } } });
    const lend = (more: object) =>
      codeOf(made.approvals.delegate({ approver: ALICE, to: BOB.id, forMs: HOUR, ...more }));
    expect(await lend({ approver: approver(ALICE.id, { roles: ['operator'] }) })).toBe('E3213');
    expect(await lend({ forMs: HOUR + 1 })).toBe('E3801');
    expect(await lend({ to: ALICE.id })).toBe('E3801');
    expect(await lend({})).toBe('taken');
    for (let count = 1; count < 20; count += 1) expect(await lend({ to: `did:user:${count}` })).toBe('taken');
    expect(await lend({ to: 'did:user:20' })).toBe('E3810');
    // The limit is of each lender.
    expect(await lend({ approver: ADMIN })).toBe('taken');
    made.clock.pass(HOUR);
    expect(await lend({ to: 'did:user:20' })).toBe('taken');
  });

  test('ORC-03 lends the role of its lender, and is ended by an admin too', async () => {
    const made = await approvalsOf();
    const carol = approver('did:user:carol', { roles: ['operator', 'approver'] });
    const admins = await approvalsOf({ terms: '[[rule]]\napprovers = ["role:admin"]' });
    const approvalId = await waits(admins, PAY);
    expect(await approves(admins, approvalId, carol)).toBe('E3213');
    const lent = await admins.approvals.delegate({ approver: ADMIN, to: carol.id, forMs: HOUR });
    expect(await approves(admins, approvalId, carol)).toBe('taken');
    expect(isFailure(lent)).toBe(false);
    const own = (await made.approvals.delegate({ approver: ALICE, to: carol.id, forMs: HOUR })) as { id: string };
    expect(await codeOf(made.approvals.endDelegation(carol, own.id))).toBe('E3809');
    expect(await codeOf(made.approvals.endDelegation(ADMIN, 'other'))).toBe('E3809');
    expect(await codeOf(made.approvals.endDelegation(ADMIN, own.id))).toBe('taken');
    expect(await codeOf(made.approvals.endDelegation(ALICE, own.id))).toBe('E3809');
    const other = approver('did:user:admin', { tenantId: 'globex', roles: ['admin'] });
    const kept = (await made.approvals.delegate({ approver: ALICE, to: carol.id, forMs: HOUR })) as { id: string };
    expect(await codeOf(made.approvals.endDelegation(other, kept.id))).toBe('E3809');
  });
});

describe('a call that waits', () => {
  test('ORC-03 can be withdrawn once, ends with the reason, and never runs', async () => {
    const made = await approvalsOf();
    const { invocationId } = await made.ask(PAY);
    expect(await made.approvals.withdraw('globex', invocationId, 'did:x', 'no')).toBe(false);
    expect(await made.approvals.withdraw('acme', 'other', 'did:x', 'no')).toBe(false);
    expect(await made.approvals.withdraw('acme', invocationId, 'did:x', 'not needed')).toBe(true);
    expect(await made.approvals.withdraw('acme', invocationId, 'did:x', 'again')).toBe(false);
    expect(await made.store.findInvocation('acme', invocationId)).toMatchObject({
      failure: { code: 'E3805', details: { reason: 'not needed' } },
    });
    expect(await made.approvals.pending('acme', 10, 0)).toEqual([]);
    expect(made.ran).toEqual([]);
  });

  test('ORC-03 is listed page by page, and no longer once its time is over', async () => {
    const made = await approvalsOf();
    const ids = [await waits(made, PAY), await waits(made, SEND)];
    made.clock.pass(1);
    ids.push(await waits(made, PAY));
    const listed = async (limit: number, offset: number) =>
      (await made.approvals.pending('acme', limit, offset)).map(({ request }) => request.approvalId);
    expect(new Set(await listed(10, 0))).toEqual(new Set(ids));
    expect(await listed(1, 0)).toHaveLength(1);
    expect([...(await listed(2, 0)), ...(await listed(2, 2))].toSorted()).toEqual(ids.toSorted());
    made.clock.pass(24 * HOUR - 1);
    expect(await listed(10, 0)).toEqual(ids.slice(2));
    made.clock.pass(1);
    expect(await listed(10, 0)).toEqual([]);
  });
});

describe('an approval of a call that a crash cut off while it ran', () => {
  test('ORC-06 ORC-05.2 is found again until it expires, for this very call and while it runs', async () => {
    const made = await approvalsOf({ approvals: { limits: { validMs: 1000 }, resume: async () => undefined } });
    const record = await made.ask(PAY);
    const { approvalId } = questionOf(record);
    const running = { ...record, state: 'EXECUTING' as const };
    expect(await made.approvals.givenApproval(running)).toBeUndefined();
    await made.approvals.approve({ approvalId, approver: ALICE });
    await made.approvals.idle();
    expect(await made.approvals.givenApproval(running)).toMatchObject({ approvalId, by: ALICE.id });
    expect(await made.approvals.givenApproval(record)).toBeUndefined();
    expect(await made.approvals.givenApproval({ ...running, invocationId: 'other' })).toBeUndefined();
    made.clock.pass(1000);
    expect(await made.approvals.givenApproval(running)).toBeUndefined();
    const denied = await made.ask(SEND);
    await made.approvals.deny({ approvalId: questionOf(denied).approvalId, approver: BOB });
    expect(await made.approvals.givenApproval({ ...denied, state: 'EXECUTING' })).toBeUndefined();
  });
});
