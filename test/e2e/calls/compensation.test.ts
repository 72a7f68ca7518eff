import { afterAll, beforeAll, expect, test } from 'vitest';
import { AGENT, ALICE, type Desk, openDesk, toolOf } from './desk.fixture.ts';

let desk: Desk;
const slow = Promise.withResolvers<void>();
beforeAll(async () => {
  desk = await openDesk();
  const write =
    (word: string) =>
    ({ n }: Readonly<Record<string, unknown>>) => {
      desk.runs.push(`${word} ${String(n)}`);
      if (word === 'unbook' && n === 13) throw new Error('nobody is there');
      return { n };
    };
  await desk.layer.registerFunction(toolOf('unbook', {}), write('unbook'));
  const booked = { side_effect_policy: 'compensatable' as const, compensation_tool_id: 'unbook' };
  await desk.layer.registerFunction(toolOf('book', booked), write('book'));
  const asked = { ...booked, execution_config: { requires_approval: true } };
  await desk.layer.registerFunction(toolOf('book_once_approved', asked), write('book'));
  await desk.layer.registerFunction(toolOf('book_slowly', booked), ({ n }) => slow.promise.then(() => ({ n })));
});
afterAll(() => desk[Symbol.asyncDispose]());

const turn = (turn_group_id: string) => ({ execution_options: { turn_group_id } });
const takeBack = async (token: string, body: object) => desk.rest('POST', '/v1/compensations', token, body);

test('VIS-03.6 what a turn left behind is taken back in reverse order, once, however often and from wherever it is asked', async () => {
  const token = await desk.token({ agent_did: 'did:agent:a', user_did: 'did:user:u', session_id: 's' });
  for (const n of [1, 2, 3]) await desk.invoke('book', n, turn('turn-1'), token);
  desk.runs.length = 0;
  const answers = await Promise.all([
    takeBack(token, { turn_group_id: 'turn-1' }),
    desk.cli(['side-effects', 'compensate', '--turn', 'turn-1']),
    takeBack(token, { turn_group_id: 'turn-1' }),
  ]);
  expect(answers[0].status).toBe(200);
  await expect.poll(() => desk.runs.length).toBe(3);
  expect(desk.runs).toEqual(['unbook 3', 'unbook 2', 'unbook 1']);
  const again = await takeBack(token, { turn_group_id: 'turn-1' });
  expect(again.status).toBe(200);
  expect(desk.runs).toHaveLength(3);
  const { body } = await desk.rest('GET', '/v1/side-effects?turn_group_id=turn-1', token);
  const { side_effects } = body as { side_effects: { status: string; tool_name: string }[] };
  expect(side_effects.filter(({ tool_name }) => tool_name === 'book').map(({ status }) => status)).toEqual(
    Array.from({ length: 3 }, () => 'compensated'),
  );
});

test('PIPE-09 VIS-03 VIS-04 a repeated request learns that the effect of its call was taken back, and runs nothing', async () => {
  const token = await desk.token({ agent_did: 'did:agent:a', user_did: 'did:user:u', session_id: 's' });
  const first = await desk.invoke('book', 4, turn('turn-0'), token);
  expect((await desk.invoke('book', 4, turn('turn-0'), token)).body['warnings']).toBeUndefined();
  await takeBack(token, { turn_group_id: 'turn-0' });
  desk.runs.length = 0;
  const { body } = await desk.invoke('book', 4, turn('turn-0'), token);
  const { invocation_id } = first.body;
  expect(body).toMatchObject({ status: 'success', invocation_id, execution_metadata: { cached: true } });
  expect(body['warnings']).toMatchObject([{ code: 'compensated', details: { invocation_id } }]);
  expect(desk.runs).toEqual([]);
});

test('VIS-03 it stops at the first that cannot be taken back, and says which', async () => {
  const token = await desk.token({ agent_did: 'did:agent:a', user_did: 'did:user:u', session_id: 's' });
  for (const n of [12, 13, 14]) await desk.invoke('book', n, turn('turn-2'), token);
  desk.runs.length = 0;
  const { body } = await takeBack(token, { turn_group_id: 'turn-2' });
  expect(desk.runs).toEqual(['unbook 14', 'unbook 13']);
  const { complete, outcomes } = body as { complete: boolean; outcomes: { outcome: string }[] };
  expect([complete, ...outcomes.map(({ outcome }) => outcome)]).toEqual([
    false,
    'compensated',
    expect.stringMatching(/^(?:failed|unknown)$/),
    'not_tried',
  ]);
});

test('VIS-03.6 a turn is not taken back while a call of it waits or runs', async () => {
  const token = await desk.token(AGENT);
  await desk.invoke('book', 20, turn('turn-3'), token);
  const { approvalId, invocationId } = await desk.waits('book_once_approved', 21, turn('turn-3'), token);
  const running = desk.invoke('book_slowly', 22, turn('turn-3'), token);
  const outcomes = async (body: object = { turn_group_id: 'turn-3' }) => {
    const answer = (await takeBack(token, body)).body as { complete: boolean; outcomes: { outcome: string }[] };
    return [answer.complete, ...answer.outcomes.map(({ outcome }) => outcome)];
  };
  desk.runs.length = 0;
  await expect.poll(() => outcomes()).toEqual([false, 'failed', 'not_tried', 'not_tried']);
  slow.resolve();
  await running;
  expect(await outcomes()).toEqual([false, 'failed', 'not_tried', 'not_tried']);
  expect(desk.runs).toEqual([]);
  await desk.rest('POST', `/v1/approvals/${approvalId}/approval`, await desk.token(ALICE), {});
  await desk.reaches(invocationId, 'COMPLETED');
  expect(await outcomes()).toEqual([true, 'compensated', 'compensated', 'compensated']);
  expect(desk.runs.slice(1)).toEqual(['unbook 21', 'unbook 22', 'unbook 20']);
});
