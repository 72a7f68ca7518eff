import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALICE, type Desk, openDesk, type Waiting } from './desk.fixture.ts';

const TREASURY = 'mailto:treasury@example.com';

/** The body of a notification that the webhook receives. */
interface Notice {
  readonly type: string;
  readonly approval_id: string;
  readonly approvers: readonly { readonly id: string; readonly answer_token?: string }[];
}

const notices: Notice[] = [];
let post: Server;
let desk: Desk;
beforeAll(async () => {
  post = createServer(async (request, response) => {
    notices.push((await json(request)) as Notice);
    response.end();
  });
  await new Promise<void>((done) => post.listen(0, '127.0.0.1', done));
  desk = await openDesk({
    terms: `[[rule]]\napprovers = ["${TREASURY}"]`,
    settings: {
      'notifiers.enabled': ['webhook'],
      'notifiers.webhook_url': `http://127.0.0.1:${(post.address() as AddressInfo).port}/`,
      'notifiers.webhook_secret': 'POST_KEY',
      'notifiers.webhook_answer_tokens': true,
    },
    environment: { SALLYPORT_SECRET_POST_KEY: 'a key that is longer than it has to be' },
  });
});
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  post.close();
});

/** The token that was sent to the webhook for an approval. */
async function tokenFor({ approvalId }: Waiting): Promise<string> {
  const asked = () => notices.find(({ type, approval_id }) => type === 'approval.asked' && approval_id === approvalId);
  await expect.poll(asked).toBeDefined();
  return asked()?.approvers.find(({ id }) => id === TREASURY)?.answer_token ?? '';
}

/** Decides on the approval with no credential but the token in the body. */
async function answer(body: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const headers = { 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${desk.server.url}/v1/approval-answers`, sent);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('ORC-03.2 ORC-03.5 the token of a notice answers once, without a credential', async () => {
  const waiting = await desk.waits('pay', 1);
  const alice = await desk.rest('POST', `/v1/approvals/${waiting.approvalId}/approval`, await desk.token(ALICE), {});
  expect(alice.body).toMatchObject({ e_code: 'E3213' });
  const answer_token = await tokenFor(waiting);
  const yes = { answer_token, decision: 'approve' };
  const wrong = await answer({ ...yes, binding_digest: 'f'.repeat(64) });
  expect([wrong.status, wrong.body['e_code']]).toEqual([409, 'E3817']);
  const [one, other] = await Promise.all([answer(yes), answer({ ...yes, decision: 'deny' })]);
  expect([one.status, other.status].sort()).toEqual([200, 409]);
  const again = await answer(yes);
  expect([again.status, again.body['e_code']]).toEqual([409, 'E3817']);
  const won = one.status === 200;
  await desk.reaches(waiting.invocationId, won ? 'COMPLETED' : 'DENIED');
  expect(desk.runs).toEqual(won ? ['pay 1'] : []);
});

test('ORC-03 a token is for its own approval, and what is none is no approval', async () => {
  const [mine, other] = [await desk.waits('pay', 2), await desk.waits('pay', 3)];
  const answer_token = await tokenFor(mine);
  for (const guessed of [`spa_${'A'.repeat(43)}`, mine.approvalId, `${answer_token}x`, answer_token.toLowerCase()]) {
    const refused = await answer({ answer_token: guessed, decision: 'approve' });
    expect([refused.status, refused.body['e_code']]).toEqual([404, 'E3809']);
  }
  expect((await answer({ answer_token, decision: 'deny', reason: 'no' })).body).toMatchObject({
    state: 'denied',
    approval_id: mine.approvalId,
  });
  expect(await desk.status(mine.invocationId)).toMatchObject({ error: { e_code: 'E3807' } });
  expect(await desk.status(other.invocationId)).toMatchObject({ status: 'pending_approval' });
});

test('ORC-03.5 the command line answers with the token too, once', async () => {
  const waiting = await desk.waits('pay', 4);
  const answer_token = await tokenFor(waiting);
  const first = await desk.cli(['approvals', 'answer', 'approve', answer_token]);
  expect(first).toMatchObject({ code: 0, out: expect.stringContaining('goes on') });
  const second = await desk.cli(['approvals', 'answer', 'deny', answer_token]);
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining('E3817') });
  expect(await desk.reaches(waiting.invocationId, 'COMPLETED')).toMatchObject({ result: { done: 4 } });
  expect((await desk.cli(['approvals', 'show', waiting.approvalId])).out).toContain(TREASURY);
});
