import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MiB } from '@sallyport/std/bytes';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import { ALICE, BOB, type Desk, openDesk, type SetClock, setClock, toolOf } from '../e2e/calls/desk.fixture.ts';

const HOUR_MS = 3_600_000;
const ODD_SERVER = fileURLToPath(
  new URL('../../packages/sallyport/src/mcp-servers/test-servers/odd-server.mjs', import.meta.url),
);
const TERMS = '[[rule]]\ntools = ["transfer"]\nquorum = 2\n\n[[rule]]\ntools = ["hurry"]\nexpires_after = "30m"\n';

let clock: SetClock;
let desk: Desk;
let alice: string;
/** Functions that end calls which would otherwise run on. */
const ends = new Set<() => void>();
/** Reports that a tool makes within a second or less, and how many it made. */
const REPORTS = 20_000;
let reports = 0;

beforeAll(async () => {
  clock = setClock();
  desk = await openDesk({ terms: TERMS, clock, settings: { 'tenant.catalog': 'default' } });
  const approved = { execution_config: { requires_approval: true } };
  const run =
    (id: string) =>
    async ({ n }: Readonly<Record<string, unknown>>) => {
      desk.runs.push(`${id} ${String(n)}`);
      return { done: n };
    };
  for (const id of ['transfer', 'hurry']) await desk.layer.registerFunction(toolOf(id, approved), run(id));
  await desk.layer.registerFunction(
    toolOf('save', {
      ...approved,
      parameters_schema: { type: 'object', properties: { path: { type: 'string', 'x-path': 'rw' } } },
      permissions: { filesystem: [{ path: join(desk.folder, 'own'), mode: 'rw' }] },
    }),
    ({ path }) => desk.runs.push(`save ${String(path)}`),
  );
  await desk.layer.registerFunction(toolOf('deaf', {}), () => {
    desk.runs.push('deaf');
    return new Promise((resolve) => ends.add(() => resolve({ late: true })));
  });
  await desk.layer.registerFunction(toolOf('chatty', { side_effect_policy: 'pure' }), async (_given, context) => {
    while (reports < REPORTS) {
      for (let many = 0; many < 200; many += 1) {
        reports += 1;
        context.progress({ progress: reports, total: REPORTS });
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return { reports };
  });
  alice = await desk.token(ALICE);
});
afterAll(async () => {
  for (const end of ends) end();
  await desk[Symbol.asyncDispose]();
});
beforeEach(() => {
  desk.runs.length = 0;
});

const approve = (id: string, token = alice, body: object = {}) =>
  desk.rest('POST', `/v1/approvals/${encodeURIComponent(id)}/approval`, token, body);

describe('keys', () => {
  const HUGE = 'k'.repeat(1 * MiB);

  test.each([
    ['an idempotency key', { idempotency_key: HUGE }],
    ['a turn group', { turn_group_id: HUGE }],
    ['an origin', { claim_source: HUGE }],
  ])('%s of 1 MB is refused before anything runs, and is not told back', async (_what, execution_options) => {
    const { status, body } = await desk.invoke('plain', 1, { execution_options });
    expect([status >= 400 && status < 500, body['e_code']]).toEqual([true, expect.stringMatching(/^E38(?:01|10)$/)]);
    expect(JSON.stringify(body).length).toBeLessThan(10_000);
    expect(desk.runs).toEqual([]);
  });

  test('PIPE-09 a key of 512 characters is taken, of 513 refused', async () => {
    const of = (length: number) => ({ execution_options: { idempotency_key: 'k'.repeat(length) } });
    expect((await desk.invoke('plain', 1, of(512))).body).toMatchObject({ status: 'success' });
    expect((await desk.invoke('plain', 1, of(512))).body).toMatchObject({ status: 'success' });
    expect((await desk.invoke('plain', 1, of(513))).status).toBe(400);
    expect(desk.runs).toEqual(['plain 1']);
  });

  test('a key of 1 MB over MCP, an approval and an answer token of that size, are refused too', async () => {
    const client = await desk.mcp(await desk.token());
    const call = { name: 'plain', arguments: { n: 1 }, _meta: { 'sallyport/turn_group_id': 'k'.repeat(600_000) } };
    await expect(client.callTool(call)).rejects.toMatchObject({ code: -32_602, data: { e_code: 'E3801' } });
    const answered = await desk.rest('POST', '/v1/approval-answers', alice, {
      answer_token: HUGE,
      decision: 'approve',
    });
    expect(answered.body['e_code']).toMatch(/^E38(?:01|10)$/);
    expect((await approve('k'.repeat(8_000))).status).toBeGreaterThanOrEqual(400);
    expect(desk.runs).toEqual([]);
  });

  test('PIPE-09.2 the same key from two tenants are two calls, and neither learns of the other', async () => {
    const key = { execution_options: { idempotency_key: 'shared' } };
    const operator = { door: 'library', local: true, tenantId: 'globex' } as const;
    await desk.layer.ask('availability.set', { tool_id: 'plain', available: true }, operator);
    const foreign = await desk.token({ tenant_id: 'globex', agent_did: 'did:agent:a' });
    const [mine, theirs] = await Promise.all([desk.invoke('plain', 5, key), desk.invoke('plain', 6, key, foreign)]);
    expect(mine.body).toMatchObject({ status: 'success', result: { done: 5 } });
    expect(theirs.body).toMatchObject({ status: 'success', result: { done: 6 } });
    expect(theirs.body['invocation_id']).not.toBe(mine.body['invocation_id']);
    const other = await desk.invoke('plain', 7, key, foreign);
    expect(other.body).toMatchObject({ error: { code: 'idempotency_conflict' } });
    expect(JSON.stringify(other.body)).not.toContain(String(mine.body['invocation_id']));
    expect(desk.runs.toSorted()).toEqual(['plain 5', 'plain 6']);
  });
});

describe('approvers', () => {
  test('ORC-03 an approval does not count whose credential was revoked before the last one came', async () => {
    const { approvalId, invocationId } = await desk.waits('transfer', 1);
    const lost = await desk.token({ ...ALICE, user_did: 'did:user:lost' });
    expect((await approve(approvalId, lost)).body).toMatchObject({ state: 'pending', votes: 1 });
    await desk.layer.ask('tokens.revoke', { token: lost, reason: 'left the company' }, LOCAL_CALLER);
    expect((await approve(approvalId, lost)).status).toBe(401);
    expect((await approve(approvalId, await desk.token(BOB))).body).toMatchObject({ state: 'pending', votes: 1 });
    expect(await desk.status(invocationId)).toMatchObject({ status: 'pending_approval' });
    expect((await approve(approvalId)).body).toMatchObject({ state: 'approved', votes: 2 });
    await desk.reaches(invocationId, 'COMPLETED');
    expect(desk.runs).toEqual(['transfer 1']);
  });

  test('ORC-03 the same person without the role has no say any more, however they come', async () => {
    const { approvalId, invocationId } = await desk.waits('pay', 1);
    const without = await desk.token({ ...ALICE, roles: ['agent', 'viewer'] });
    for (const path of ['approval', 'denial']) {
      const refused = await desk.rest('POST', `/v1/approvals/${approvalId}/${path}`, without, {});
      expect([refused.status, refused.body['e_code']]).toEqual([403, 'E3213']);
    }
    expect(await desk.status(invocationId)).toMatchObject({ status: 'pending_approval' });
    await desk.cli(['approvals', 'deny', approvalId]);
    expect(desk.runs).toEqual([]);
  });

  test('ORC-03 an edit that does not fit the tool is refused, and the approval waits on', async () => {
    const { approvalId, invocationId } = await desk.waits('pay', 2);
    for (const parameters of [{ n: 101 }, { n: 'x' }, {}, { n: 1, also: 'this' }, JSON.parse('{"n":1,"__proto__":{}}')])
      expect((await approve(approvalId, alice, { parameters })).status).toBe(400);
    expect(await desk.status(invocationId)).toMatchObject({ status: 'pending_approval' });
    expect((await approve(approvalId, alice, { parameters: { n: 100 } })).body).toMatchObject({ state: 'approved' });
    await desk.reaches(invocationId, 'COMPLETED');
    expect(desk.runs).toEqual(['pay 100']);
  });

  test('ORC-03 an edit that leads out of the grant of the call is refused, whoever makes it', async () => {
    const token = await desk.token({ agent_did: 'did:agent:a', paths: [join(desk.folder, 'own')], mode: 'rw' });
    const call = { tool_id: 'save', parameters: { path: join(desk.folder, 'own', 'a.txt') } };
    const { body } = await desk.rest('POST', '/v1/invocations', token, call);
    expect(body).toMatchObject({ status: 'pending_approval' });
    const { approval_id } = body['approval'] as { approval_id: string };
    for (const path of [join(desk.folder, 'other.txt'), '/etc/passwd', `${desk.folder}/own/../x`, 'a.txt'])
      expect((await approve(approval_id, alice, { parameters: { path } })).body).toMatchObject({ e_code: 'E3203' });
    const inside = await approve(approval_id, alice, { parameters: { path: join(desk.folder, 'own', 'b.txt') } });
    expect(inside.body).toMatchObject({ state: 'approved' });
    await desk.reaches(String(body['invocation_id']), 'COMPLETED');
    expect(desk.runs).toEqual([`save ${join(desk.folder, 'own', 'b.txt')}`]);
  });
});

describe('tools', () => {
  test('PIPE-06 one that ignores its cancel is left alone, and its late end changes nothing', async () => {
    const { body } = await desk.invoke('deaf', 1, { execution_options: { async_mode: true } });
    const id = String(body['invocation_id']);
    await expect.poll(() => ends.size).toBe(1);
    expect(await desk.cli(['calls', 'cancel', id])).toMatchObject({ code: 0 });
    const ended = await desk.reaches(id, 'ABORTED');
    // The tool may not run twice and had started: what it did is unknown.
    expect(ended).toMatchObject({ status: 'cancelled', error: { e_code: expect.stringMatching(/^E380[45]$/) } });
    for (const end of ends) end();
    ends.clear();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await desk.status(id)).toEqual(ended);
  }, 120_000);

  test('PIPE-07 ORC-01.1 one that reports its progress 10 000 times a second ends, and a watcher hears ten a second at most', async () => {
    reports = 0;
    const token = await desk.token();
    const { body } = await desk.invoke('chatty', 1, { execution_options: { async_mode: true } }, token);
    const headers = { authorization: `Bearer ${token}` };
    const url = `${desk.server.url}/v1/invocations/${String(body['invocation_id'])}/events`;
    const startedAt = performance.now();
    const [stream, besides] = await Promise.all([
      fetch(url, { headers }).then((response) => response.text()),
      desk.invoke('plain', 9),
    ]);
    const seconds = (performance.now() - startedAt) / 1000;
    expect(besides.body).toMatchObject({ status: 'success' });
    expect(reports).toBe(REPORTS);
    const events = stream.match(/^id: /gm) ?? [];
    expect(events.length).toBeLessThanOrEqual(10 * seconds + 3);
    expect(stream).toContain('event: end');
  });

  test('a server that answers a call twice has answered it once', async () => {
    const transport = { type: 'stdio' as const, command: 'node', args: [ODD_SERVER, 'answers-twice'] };
    await desk.layer.ask('upstreams.add', { upstream: { name: 'odd', transport } }, LOCAL_CALLER);
    const token = await desk.token();
    const call = (message: string) =>
      desk.rest('POST', '/v1/invocations', token, { tool_id: 'odd__echo', parameters: { message } });
    for (const message of ['one', 'two', 'three'])
      expect((await call(message)).body).toMatchObject({ result: { content: [{ type: 'text', text: message }] } });
    await desk.layer.ask('upstreams.remove', { name: 'odd' }, LOCAL_CALLER);
  });
});

describe('a clock that jumps by an hour', () => {
  test('ORC-05 forwards: what runs goes on, what waits too unless its own end has passed, and that is an expiry', async () => {
    const running = await desk.invoke('deaf', 1, { execution_options: { async_mode: true } });
    const id = String(running.body['invocation_id']);
    await expect.poll(() => ends.size).toBe(1);
    const [hurried, patient] = [await desk.waits('hurry', 1), await desk.waits('pay', 1)];
    clock.jump(HOUR_MS);
    const over = await desk.reaches(hurried.invocationId, 'DENIED');
    expect(over).toMatchObject({ status: 'timeout', error: { e_code: 'E3808' } });
    expect((await approve(patient.approvalId)).body).toMatchObject({ state: 'approved' });
    await desk.reaches(patient.invocationId, 'COMPLETED');
    expect(await desk.status(id)).toMatchObject({ state: 'EXECUTING' });
    for (const end of ends) end();
    ends.clear();
    expect(await desk.reaches(id, 'COMPLETED')).toMatchObject({ result: { late: true } });
    expect(desk.runs).toEqual(['deaf', 'pay 1']);
  });

  test('ORC-05.3 back: nothing expires early, and an approval that was given is used once', async () => {
    const waiting = await desk.waits('hurry', 2);
    clock.jump(-HOUR_MS);
    expect(await desk.status(waiting.invocationId)).toMatchObject({ status: 'pending_approval' });
    expect((await approve(waiting.approvalId)).body).toMatchObject({ state: 'approved' });
    await desk.reaches(waiting.invocationId, 'COMPLETED');
    expect((await approve(waiting.approvalId)).body).toMatchObject({ e_code: 'E3817' });
    expect(desk.runs).toEqual(['hurry 2']);
    expect(await desk.layer.ask('audit.verify', {}, LOCAL_CALLER)).toMatchObject({ whole: true });
  });
});
