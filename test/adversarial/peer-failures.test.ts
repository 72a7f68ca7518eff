import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import { ALICE, BOB, type Desk, openDesk, toolOf } from '../e2e/calls/desk.fixture.ts';

// Each failure here was reported by users of other systems; each is tried at a door of a whole layer.

const TERMS = `
[[rule]]
tools = ["hurry"]
expires_after = "1s"

[[rule]]
tools = ["lonely"]
approvers = ["did:user:u"]
`;

let desk: Desk;
let alice: string;
let bob: string;
beforeAll(async () => {
  desk = await openDesk({ terms: TERMS });
  const add = (id: string, more: Parameters<typeof toolOf>[1], run?: () => Promise<unknown>) =>
    desk.layer.registerFunction(toolOf(id, more), async ({ n }) => {
      desk.runs.push(`${id} ${String(n)}`);
      return (await run?.()) ?? { done: n };
    });
  const approved = { requires_approval: true };
  const stubborn = { max_attempts: 5, base_delay_ms: 1, max_delay_ms: 5 };
  await add('hurry', { execution_config: approved });
  await add('lonely', { execution_config: approved });
  await add('eager', {
    side_effect_policy: 'idempotent',
    requires_confirmation: true,
    execution_config: { retry_policy: stubborn },
  });
  // The tool writes, and its answer comes too late.
  await add('write', { execution_config: { retry_policy: stubborn } }, () => sleep(2_000));
  [alice, bob] = [await desk.token(ALICE), await desk.token(BOB)];
});
afterAll(() => desk[Symbol.asyncDispose]());
beforeEach(() => {
  desk.runs.length = 0;
});

const approve = (id: string, token = alice, body: object = {}) =>
  desk.rest('POST', `/v1/approvals/${id}/approval`, token, body);
const deny = (id: string, token = alice) => desk.rest('POST', `/v1/approvals/${id}/denial`, token, {});
const confirming = { action: 'accept', content: { confirm: true } };

test('ORC-05.3 a decision does not reach another call that waits: the same call once more, or another one of its agent', async () => {
  const [one, twin, other] = [await desk.waits('pay', 1), await desk.waits('pay', 1), await desk.waits('pay', 2)];
  const { body } = await desk.rest('GET', `/v1/approvals/${one.approvalId}`, alice);
  const { binding_digest } = body['approval'] as { binding_digest: string };
  const crossed = await approve(other.approvalId, alice, { binding_digest });
  expect([crossed.status, crossed.body['e_code']]).toEqual([409, 'E3817']);
  await approve(one.approvalId, alice, { binding_digest });
  await desk.reaches(one.invocationId, 'COMPLETED');
  for (const { invocationId } of [twin, other])
    expect(await desk.status(invocationId)).toMatchObject({ status: 'pending_approval' });
  expect(desk.runs).toEqual(['pay 1']);
  await Promise.all([deny(twin.approvalId), deny(other.approvalId)]);
});

test('ORC-05 of two users who answer at once at their clients each decides on their own call alone', async () => {
  const user = async (name: string, answer: object) => {
    const token = await desk.token({ agent_did: 'did:agent:shared', user_did: `did:user:${name}` });
    return desk.mcp(token, async () => {
      await sleep(name === 'yes' ? 50 : 5);
      return answer;
    });
  };
  const [yes, no] = [await user('yes', confirming), await user('no', { action: 'decline' })];
  const [ran, declined] = await Promise.all([
    yes.callTool({ name: 'send', arguments: { n: 1 } }),
    no.callTool({ name: 'send', arguments: { n: 1 } }),
  ]);
  expect(ran).toMatchObject({ structuredContent: { done: 1 } });
  expect(declined).toMatchObject({ isError: true, _meta: { error: { e_code: 'E3807' } } });
  expect(desk.runs).toEqual(['send 1']);
});

test('ORC-05.7 a declined tool does not run: not by a later approval, a standing rule, the same call again, or a sweep', async () => {
  const key = { execution_options: { idempotency_key: 'declined' } };
  const { approvalId, invocationId } = await desk.waits('pay', 3, key);
  await deny(approvalId);
  expect((await approve(approvalId, bob)).body).toMatchObject({ e_code: 'E3817', details: { outcome: 'denied' } });
  const lasting = { remember: { scope: 'tool', for_seconds: 60 } };
  expect((await approve(approvalId, bob, lasting)).body).toMatchObject({ e_code: 'E3817' });
  const again = await desk.invoke('pay', 3, key);
  expect(again.body).toMatchObject({ invocation_id: invocationId, error: { e_code: 'E3807' } });
  await sleep(300);
  expect(desk.runs).toEqual([]);
  expect(await desk.layer.ask('approvals.rules', {}, LOCAL_CALLER)).toEqual({ rules: [] });
});

test('ORC-05 nothing that was said of a call is lost when it goes on: user, session, phase, origin', async () => {
  const token = await desk.token({ agent_did: 'did:agent:a', user_did: 'did:user:u', session_id: 'kept' });
  const stated = { phase: 'executor', claim_source: 'a web page', idempotency_key: 'resumed' };
  const { approvalId, invocationId } = await desk.waits('pay', 4, { execution_options: stated }, token);
  await approve(approvalId);
  expect(await desk.reaches(invocationId, 'COMPLETED')).toMatchObject({ phase: 'executor' });
  const { events } = await desk.layer.ask('audit.query', { invocation_id: invocationId }, LOCAL_CALLER);
  const own = events.filter(({ type }) => type.startsWith('ai.agent.tool.'));
  expect(own.length).toBeGreaterThan(3);
  for (const { data } of own) expect(data).toMatchObject({ user_did: 'did:user:u', session_id: 'kept' });
  expect((await desk.invoke('pay', 4, { execution_options: stated }, token)).body).toMatchObject({
    invocation_id: invocationId,
    status: 'success',
  });
  expect(desk.runs).toEqual(['pay 4']);
});

test('ORC-05.6 an escalation to nobody is refused when the layer starts, and a question that nobody could answer when it is asked', async () => {
  for (const rule of ['escalation = [{ after = "1h", approvers = [] }]', 'approvers = []', 'on_timeout = "allow"'])
    await expect(openDesk({ terms: `[[rule]]\n${rule}` })).rejects.toMatchObject({ code: 'E3801' });
  const { body } = await desk.invoke('lonely', 1);
  expect(body).not.toHaveProperty('approval');
  expect(body).toMatchObject({ error: { e_code: expect.stringMatching(/^E3/) } });
  expect(desk.runs).toEqual([]);
});

test('ORC-05.5 an expiry is told as an expiry at every door, and never as a no', async () => {
  const { approvalId, invocationId } = await desk.waits('hurry', 1);
  await desk.reaches(invocationId, 'DENIED');
  const shown = await desk.rest('GET', `/v1/approvals/${approvalId}`, alice);
  expect(shown.body).toMatchObject({ approval: { state: 'expired' } });
  const late = await approve(approvalId);
  const status = await desk.status(invocationId);
  expect(status).toMatchObject({ status: 'timeout', error: { e_code: 'E3808' } });
  const watched = await desk.cli(['calls', 'watch', invocationId]);
  expect(watched).toMatchObject({ code: 1 });
  for (const told of [JSON.stringify(late.body), JSON.stringify(status['error']), watched.err])
    expect(told).not.toMatch(/\b(?:denied|declined|refused by)\b/i);
});

test('ORC-05 a question is no failure that a retry swallows: it is asked once, and nothing runs', async () => {
  const { approvalId, invocationId } = await desk.waits('eager', 1, {
    execution_options: { idempotency_key: 'eager' },
  });
  expect(await desk.status(invocationId)).toMatchObject({ execution_metadata: { attempts: 0 } });
  const { approvals } = await desk.layer.ask('approvals.list', {}, LOCAL_CALLER);
  expect(approvals.filter(({ tool_id }) => tool_id === 'eager')).toMatchObject([{ approval_id: approvalId }]);
  expect(desk.runs).toEqual([]);
  await approve(approvalId);
  await desk.reaches(invocationId, 'COMPLETED');
  expect(desk.runs).toEqual(['eager 1']);
});

test('ORC-05.3 approvals asked at the same moment have ids of their own, and two approvals to one id run it once', async () => {
  const waiting = await Promise.all(Array.from({ length: 8 }, () => desk.waits('pay', 7)));
  expect(new Set(waiting.map(({ approvalId }) => approvalId)).size).toBe(8);
  const [one, ...others] = waiting;
  if (one === undefined) throw new Error('nothing waits');
  const answers = await Promise.all([alice, bob, alice, bob].map((token) => approve(one.approvalId, token)));
  const won = answers.filter(({ status }) => status === 200);
  expect(won).toHaveLength(1);
  for (const { status, body } of answers.filter((answer) => answer !== won[0]))
    expect([status, body['e_code']]).toEqual([409, 'E3817']);
  await desk.reaches(one.invocationId, 'COMPLETED');
  expect(desk.runs).toEqual(['pay 7']);
  for (const { approvalId } of others) await deny(approvalId);
});

test('PIPE-05 PIPE-13.2 PIPE-13.3 PIPE-13.4 a write that timed out is not tried again: its outcome is not known, and is told so until it is settled', async () => {
  const key = { execution_options: { idempotency_key: 'written' }, resource_limits: { timeout_seconds: 0.2 } };
  const first = await desk.invoke('write', 1, key);
  const { invocation_id } = first.body as { invocation_id: string };
  expect(first.body).toMatchObject({ error: { e_code: 'E3804', retryable: false } });
  const again = await desk.invoke('write', 1, key);
  expect(again.body).toMatchObject({ invocation_id, error: { e_code: 'E3804' } });
  const { outcomes } = await desk.layer.ask('outcomes.list', {}, LOCAL_CALLER);
  expect(outcomes.map((each) => each.invocation_id)).toContain(invocation_id);
  await sleep(300);
  expect(desk.runs).toEqual(['write 1']);
});
