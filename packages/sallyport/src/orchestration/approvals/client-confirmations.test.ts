import { expect, test } from 'vitest';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import type { PolicyDecisions } from '../../permission/policy-decisions.ts';
import { ALICE, type ApprovalsUnderTest, approvalsOf, questionOf, rowOf } from './approvals.fixture.ts';
import { createClientConfirmations } from './client-confirmations.ts';

/** A call that waits for a confirmation, and the agent with the user at the client that made the call. */
async function waiting(made: ApprovalsUnderTest, toolId = 'send') {
  const confirmations = createClientConfirmations({ approvals: made.approvals, shownArguments: JSON.stringify });
  const capability_token = await made.token({ user_did: 'did:user:u' });
  const record = await made.ask({ tool_id: toolId, parameters: { n: 1 }, capability_token });
  const { approvalId, binding } = questionOf(record);
  const { tenantId, agentDid, userDid } = binding;
  const by: CallOwner = { tenantId, agentDid, ...(userDid === undefined ? {} : { userDid }) };
  return { confirmations, record, approvalId, by };
}

test('VIS-06 the user is shown the call and says yes to it, and it runs through every stage again', async () => {
  const made = await approvalsOf();
  const { confirmations, record, approvalId, by } = await waiting(made);
  const shown = await confirmations.shown(by, approvalId);
  expect(shown).toMatchObject({ toolId: 'send', prompt: 'Really?', argumentsText: '{"n":1}' });
  const bindingDigest = shown?.bindingDigest ?? '';
  await confirmations.confirm({ tenantId: 'acme', approvalId, by, accepted: true, bindingDigest });
  await made.approvals.idle();
  expect(await rowOf(made, record)).toMatchObject({ state: 'COMPLETED' });
  expect(made.ran).toEqual([{ tool: 'send', n: 1 }]);
  expect(await confirmations.shown(by, approvalId)).toBeUndefined();
});

test('VIS-06.3 an approval at the client passes by no policy', async () => {
  let allowed = true;
  const policy: PolicyDecisions = {
    decide: () => ({ allowed, policies: ['p'], engine: 'e', version: '1' }),
    clear() {},
  };
  const made = await approvalsOf({ pipeline: { policy } });
  const { confirmations, record, approvalId, by } = await waiting(made);
  const bindingDigest = (await confirmations.shown(by, approvalId))?.bindingDigest ?? '';
  allowed = false;
  await confirmations.confirm({ tenantId: 'acme', approvalId, by, accepted: true, bindingDigest });
  await made.approvals.idle();
  expect(await rowOf(made, record)).toMatchObject({ state: 'DENIED', failure: { code: 'E3210' } });
  expect(made.ran).toEqual([]);
});

test('ORC-05.7 a call that its user declined never runs, whatever is said later', async () => {
  const made = await approvalsOf();
  const { confirmations, record, approvalId, by } = await waiting(made);
  const bindingDigest = (await confirmations.shown(by, approvalId))?.bindingDigest ?? '';
  const say = (accepted: boolean) =>
    confirmations.confirm({ tenantId: 'acme', approvalId, by, accepted, bindingDigest });
  await say(false);
  await expect(say(true)).rejects.toMatchObject({ code: 'E3817' });
  expect(await made.approvals.approve({ approvalId, approver: ALICE })).toMatchObject({ code: 'E3817' });
  await made.approvals.idle();
  expect(await rowOf(made, record)).toMatchObject({ state: 'DENIED', failure: { code: 'E3807' } });
  expect(made.ran).toEqual([]);
});

test('ORC-05 an approval to something else than what was shown, or after the end, does not count', async () => {
  const made = await approvalsOf();
  const { confirmations, approvalId, by } = await waiting(made);
  const answer = { tenantId: 'acme', approvalId, by, accepted: true };
  await expect(confirmations.confirm({ ...answer, bindingDigest: 'other' })).rejects.toMatchObject({ code: 'E3817' });
  const bindingDigest = (await confirmations.shown(by, approvalId))?.bindingDigest ?? '';
  made.clock.pass(25 * 3_600_000);
  await expect(confirmations.confirm({ ...answer, bindingDigest })).rejects.toMatchObject({ code: 'E3808' });
  await made.approvals.idle();
  expect(made.ran).toEqual([]);
});

test('ORC-03 what needs an approver is neither shown at the client nor confirmed there', async () => {
  const made = await approvalsOf();
  const { confirmations, approvalId, by } = await waiting(made, 'pay');
  expect(await confirmations.shown(by, approvalId)).toBeUndefined();
  const pending = await made.approvals.find('acme', approvalId);
  const bindingDigest = 'digest' in pending ? pending.digest : '';
  const confirmed = confirmations.confirm({ tenantId: 'acme', approvalId, by, accepted: true, bindingDigest });
  await expect(confirmed).rejects.toMatchObject({ code: 'E3213' });
  await made.approvals.idle();
  expect(made.ran).toEqual([]);
});

test('VIS-06 a client that speaks for no user confirms nothing', async () => {
  const made = await approvalsOf();
  const confirmations = createClientConfirmations({ approvals: made.approvals, shownArguments: JSON.stringify });
  const record = await made.ask({ tool_id: 'send', parameters: { n: 1 } });
  const { approvalId, binding } = questionOf(record);
  const by = { tenantId: 'acme', agentDid: binding.agentDid };
  expect(await confirmations.shown(by, approvalId)).toBeUndefined();
  const pending = await made.approvals.find('acme', approvalId);
  const bindingDigest = 'digest' in pending ? pending.digest : '';
  const confirmed = confirmations.confirm({ tenantId: 'acme', approvalId, by, accepted: true, bindingDigest });
  await expect(confirmed).rejects.toMatchObject({ code: 'E3213' });
  expect(made.ran).toEqual([]);
});

test.each<[string, (by: CallOwner) => CallOwner, string]>([
  ['another agent', (by) => ({ ...by, agentDid: 'did:agent:other' }), 'E3213'],
  ['another user of the agent', (by) => ({ ...by, userDid: 'did:user:v' }), 'E3213'],
  ['the agent without its user', ({ tenantId, agentDid }) => ({ tenantId, agentDid }), 'E3213'],
  ['another tenant', (by) => ({ ...by, tenantId: 'globex' }), 'E3809'],
])('ORC-05 %s can neither see nor confirm it', async (_who, other, code) => {
  const made = await approvalsOf();
  const { confirmations, approvalId, by } = await waiting(made);
  const bindingDigest = (await confirmations.shown(by, approvalId))?.bindingDigest ?? '';
  const stranger = other(by);
  expect(await confirmations.shown(stranger, approvalId)).toBeUndefined();
  const answer = { tenantId: stranger.tenantId, approvalId, by: stranger, accepted: true, bindingDigest };
  await expect(confirmations.confirm(answer)).rejects.toMatchObject({ code });
  expect(made.ran).toEqual([]);
});
