import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { ALICE, BOB, type Desk, openDesk, toolOf } from './desk.fixture.ts';

const TERMS = `
[[rule]]
tools = ["transfer"]
quorum = 2

[[rule]]
tools = ["hurry"]
expires_after = "1s"
`;

let desk: Desk;
let alice: string;
let bob: string;
beforeAll(async () => {
  desk = await openDesk({ terms: TERMS });
  for (const id of ['transfer', 'hurry'])
    await desk.layer.registerFunction(toolOf(id, { execution_config: { requires_approval: true } }), ({ n }) => {
      desk.runs.push(`${id} ${String(n)}`);
      return { done: n };
    });
  [alice, bob] = [await desk.token(ALICE), await desk.token(BOB)];
});
afterAll(() => desk[Symbol.asyncDispose]());
beforeEach(() => {
  desk.runs.length = 0;
});

const approve = (id: string, token = alice, body: object = {}) =>
  desk.rest('POST', `/v1/approvals/${id}/approval`, token, body);
const deny = (id: string, token = alice, body: object = {}) =>
  desk.rest('POST', `/v1/approvals/${id}/denial`, token, body);

describe('approval over REST', () => {
  test('ORC-03.1 API-01.2 a call waits on record, is shown with its arguments, and runs once it is approved', async () => {
    const { approvalId, invocationId } = await desk.waits('pay', 7);
    const shown = await desk.rest('GET', `/v1/approvals/${approvalId}`, alice);
    expect(shown.body).toMatchObject({
      approval: { invocation_id: invocationId, tool_id: 'pay', state: 'pending', user_did: 'did:user:u' },
      parameters: { n: 7 },
    });
    const { binding_digest } = shown.body['approval'] as { binding_digest: string };
    expect(desk.runs).toEqual([]);
    expect(await approve(approvalId, alice, { binding_digest })).toMatchObject({ body: { state: 'approved' } });
    expect(await desk.reaches(invocationId, 'COMPLETED')).toMatchObject({ result: { done: 7 } });
    expect(desk.runs).toEqual(['pay 7']);
  });

  test('ORC-03.1 what runs is the version that was shown, and nobody is said to have asked for it', async () => {
    const tool = (version: string) => toolOf('ship', { version, execution_config: { requires_approval: true } });
    await desk.layer.registerFunction(tool('1.0.0'), () => 'old');
    const { approvalId, invocationId } = await desk.waits('ship', 1);
    await desk.layer.registerFunction(tool('1.1.0'), () => 'new');
    await approve(approvalId);
    const done = await desk.reaches(invocationId, 'COMPLETED');
    expect(done).toMatchObject({ result: 'old', tool_version: '1.0.0' });
    expect(done).not.toHaveProperty('warnings');
  });

  test('ORC-03 an approval to something else than what was shown is refused, and the approval waits on', async () => {
    const { approvalId, invocationId } = await desk.waits('pay', 8);
    const wrong = await approve(approvalId, alice, { binding_digest: 'f'.repeat(64) });
    expect([wrong.status, wrong.body['e_code']]).toEqual([409, 'E3817']);
    expect(await desk.status(invocationId)).toMatchObject({ status: 'pending_approval' });
    await deny(approvalId);
  });

  test('ORC-05.7 ORC-03 a no ends the call with its reason, and no approval brings it back', async () => {
    const { approvalId, invocationId } = await desk.waits('pay', 9);
    expect(await deny(approvalId, alice, { reason: 'too much' })).toMatchObject({ body: { state: 'denied' } });
    expect(await desk.status(invocationId)).toMatchObject({
      state: 'DENIED',
      status: 'permission_denied',
      error: { e_code: 'E3807', details: { reason: 'too much' } },
    });
    expect((await approve(approvalId, bob)).body).toMatchObject({ e_code: 'E3817', details: { outcome: 'denied' } });
    expect(desk.runs).toEqual([]);
  });

  test('ORC-05.5 ORC-03.12 an expiry is no denial: another code, another status, another event', async () => {
    const { approvalId, invocationId } = await desk.waits('hurry', 1);
    const over = await desk.reaches(invocationId, 'DENIED').catch(() => undefined);
    expect(over).toMatchObject({ status: 'timeout', error: { e_code: 'E3808' } });
    expect((await approve(approvalId)).body).toMatchObject({ e_code: 'E3808' });
    const { events } = await desk.layer.ask('audit.query', { invocation_id: invocationId }, LOCAL_CALLER);
    const types = events.map(({ type }) => type);
    expect(types).toContain('ai.agent.approval.expired');
    expect(types).not.toContain('ai.agent.approval.decided');
    expect(desk.runs).toEqual([]);
  });

  test('ORC-03.8 an edit is validated and authorised like what came; what is refused leaves the approval waiting', async () => {
    const { approvalId, invocationId } = await desk.waits('pay', 50);
    const tooMuch = await approve(approvalId, alice, { parameters: { n: 101 } });
    expect([tooMuch.status, tooMuch.body['e_code']]).toEqual([400, 'E3509']);
    const file = join(desk.folder, 'policies', 'closed.cedar');
    await writeFile(file, '@id("closed")\nforbid (principal, action, resource) when { resource.id == "pay" };');
    await desk.layer.ask('policies.reload', {}, LOCAL_CALLER);
    const forbidden = await approve(approvalId, alice, { parameters: { n: 5 } });
    expect(forbidden).toMatchObject({ status: 403, body: { e_code: 'E3210' } });
    await rm(file);
    await desk.layer.ask('policies.reload', {}, LOCAL_CALLER);
    expect(await desk.status(invocationId)).toMatchObject({ status: 'pending_approval' });
    expect(await approve(approvalId, alice, { parameters: { n: 5 } })).toMatchObject({ body: { state: 'approved' } });
    expect(await desk.reaches(invocationId, 'COMPLETED')).toMatchObject({ result: { done: 5 } });
    expect(desk.runs).toEqual(['pay 5']);
  });

  test('ORC-05.8 a quorum takes two different people, for the very same call', async () => {
    const { approvalId, invocationId } = await desk.waits('transfer', 3);
    expect((await approve(approvalId)).body).toMatchObject({ state: 'pending', votes: 1, quorum: 2 });
    expect((await approve(approvalId)).body).toMatchObject({ state: 'pending', votes: 1 });
    const edited = await approve(approvalId, bob, { parameters: { n: 4 } });
    expect(edited.body).toMatchObject({ state: 'pending', votes: 1 });
    expect(desk.runs).toEqual([]);
    expect((await approve(approvalId, bob)).body).toMatchObject({ state: 'approved', votes: 2 });
    await desk.reaches(invocationId, 'COMPLETED');
    expect(desk.runs).toEqual(['transfer 3']);
  });

  test('ORC-05 always allow makes a rule that is seen, used on record and revoked', async () => {
    const first = await desk.waits('pay', 11);
    const { body } = await approve(first.approvalId, alice, {
      remember: { scope: 'exact_arguments', for_seconds: 600 },
    });
    const { rule_id } = body['rule'] as { rule_id: string };
    await desk.reaches(first.invocationId, 'COMPLETED');
    expect((await desk.invoke('pay', 11)).body).toMatchObject({ status: 'success' });
    expect((await desk.waits('pay', 12)).approvalId).toBeTruthy();
    const rules = await desk.cli(['approvals', 'rules']);
    expect(rules.out).toContain(rule_id);
    expect(await desk.cli(['approvals', 'revoke-rule', rule_id])).toMatchObject({ code: 0 });
    expect((await desk.waits('pay', 11)).approvalId).not.toBe(first.approvalId);
    expect(desk.runs).toEqual(['pay 11', 'pay 11']);
  });
});

describe('who may decide', () => {
  test('ORC-03.9 neither the agent and the user of a call, nor anybody without the role', async () => {
    const { approvalId } = await desk.waits('pay', 21);
    const own = await desk.token({ agent_did: 'did:agent:a', roles: ['approver', 'admin'] });
    const user = await desk.token({ agent_did: 'did:agent:z', user_did: 'did:user:u', roles: ['admin'] });
    const viewer = await desk.token({ agent_did: 'did:agent:v', roles: ['viewer', 'operator'] });
    const elsewhere = await desk.token({ ...ALICE, tenant_id: 'globex' });
    for (const token of [own, user, viewer])
      expect((await approve(approvalId, token)).body).toMatchObject({ e_code: 'E3213' });
    expect((await approve(approvalId, elsewhere)).body).toMatchObject({ e_code: 'E3809' });
    expect((await deny(approvalId)).body).toMatchObject({ state: 'denied' });
  });
});

describe('approval from the command line', () => {
  test('ORC-03.7 list, show, approve and deny', async () => {
    const [yes, no] = [await desk.waits('pay', 31), await desk.waits('pay', 32)];
    const { out } = await desk.cli(['approvals', 'list']);
    expect(out).toContain(yes.approvalId);
    expect(out).toContain(no.approvalId);
    const shown = await desk.cli(['approvals', 'show', yes.approvalId, '--json']);
    const { approval } = JSON.parse(shown.out);
    const digest = ['--digest', approval.binding_digest];
    expect((await desk.cli(['approvals', 'approve', no.approvalId, ...digest])).code).toBe(1);
    expect(await desk.cli(['approvals', 'approve', yes.approvalId, ...digest])).toMatchObject({ code: 0 });
    expect(await desk.cli(['approvals', 'deny', no.approvalId, '--reason', 'no'])).toMatchObject({ code: 0 });
    await desk.reaches(yes.invocationId, 'COMPLETED');
    expect(await desk.status(no.invocationId)).toMatchObject({ error: { e_code: 'E3807' } });
    expect(desk.runs).toEqual(['pay 31']);
    expect((await desk.cli(['approvals', 'list', '--decided'])).out).toContain(no.approvalId);
  });

  test('ORC-03 watch shows a call when it begins to wait, and an edit runs what was written', async () => {
    const stop = new AbortController();
    const seen = Promise.withResolvers<string>();
    const watching = desk.cli(['approvals', 'watch', '--json'], stop.signal, (text) => {
      for (const line of text.split('\n').filter((each) => each.startsWith('{'))) {
        const { approval } = JSON.parse(line);
        if (approval.tool_id === 'send') seen.resolve(approval.approval_id);
      }
    });
    const { approvalId, invocationId } = await desk.waits('send', 33);
    expect(await seen.promise).toBe(approvalId);
    stop.abort();
    expect(await watching).toMatchObject({ code: 0 });
    expect((await desk.cli(['approvals', 'edit', approvalId, '{"n":34}'])).out).toContain('goes on');
    await desk.reaches(invocationId, 'COMPLETED');
    expect(desk.runs).toEqual(['send 34']);
  });
});

describe('approval at an MCP client', () => {
  const calling = async (onElicit: (params: { message: string }) => object) => {
    const client = await desk.mcp(await desk.token({ agent_did: 'did:agent:m', user_did: 'did:user:m' }), onElicit);
    return (name: string, n: number) => client.callTool({ name, arguments: { n } });
  };

  test('VIS-06 ORC-03.4 API-03.11 the user at the client confirms, and what they confirmed runs once', async () => {
    const asked: string[] = [];
    const call = await calling(({ message }) => {
      asked.push(message);
      return { action: 'accept', content: { confirm: true } };
    });
    expect(await call('send', 41)).toMatchObject({ structuredContent: { done: 41 } });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('{"n":41}');
    expect(desk.runs).toEqual(['send 41']);
  });

  test('VIS-06 a no at the client ends the call; what takes an approver never asks there', async () => {
    const asked: string[] = [];
    const call = await calling(({ message }) => {
      asked.push(message);
      return { action: 'decline' };
    });
    expect(await call('send', 42)).toMatchObject({ isError: true, _meta: { error: { e_code: 'E3807' } } });
    const waiting = await call('pay', 43);
    expect(waiting).toMatchObject({ isError: true, _meta: { status: 'pending_approval' } });
    expect(asked).toHaveLength(1);
    const approval = waiting._meta?.['approval'] as { approval_id: string } | undefined;
    await approve(approval?.approval_id ?? '');
    // Its tool has run before its end is on record: until then the repeated call is answered that it runs.
    await expect.poll(() => call('pay', 43)).toMatchObject({ structuredContent: { done: 43 } });
    expect(desk.runs).toEqual(['pay 43']);
  });
});
