import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CliBench, createCliBench } from '../run-cli.fixture.ts';

let bench: CliBench;
beforeEach(async () => {
  bench = await createCliBench();
});
afterEach(() => bench.remove());

const RECORD = {
  id: 'call-1',
  tool_name: 'order',
  agent_did: 'did:a',
  policy: 'compensatable',
  status: 'executed',
  started_at: '2026-01-05T10:00:00.000Z',
  turn_group_id: 't-1',
  irreversible: false,
  needs_compensation: true,
  compensation_tool: 'cancel',
  compensation_executed: false,
};
const DONE = { invocation_id: 'call-1', tool_name: 'order', outcome: 'compensated', compensation_id: 'call-2' };

test('VIS-03 side-effects list passes its filters on and shows a row for each, show one of them', async () => {
  bench.layer.answers.set('side-effects.list', () => ({ side_effects: [RECORD], next: '1_call-1' }));
  bench.layer.answers.set('side-effects.get', () => RECORD);
  const list = await bench.run(['side-effects', 'list', '--turn', 't-1', '--open', '--limit', '1']);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ turn_group_id: 't-1', needs_compensation: true, limit: 1 });
  expect(list.out).toMatch(/call-1 +order +compensatable +executed +t-1 +2026-01-05/);
  expect(list.err).toContain('--after 1_call-1');
  const show = await bench.run(['side-effects', 'show', 'call-1']);
  expect(show.out).toContain('compensation_tool: cancel\n');
});

test('VIS-03 side-effects compensate takes one call back with a token for its tool alone, or a turn as a whole', async () => {
  const minted: unknown[] = [];
  bench.layer.answers.set('side-effects.get', () => RECORD);
  bench.layer.answers.set('side-effects.list', () => ({ side_effects: [RECORD] }));
  bench.layer.answers.set('tools.get', () => ({ manifest: { permissions: { credentials: ['shop'] } } }));
  bench.layer.answers.set('tokens.mint', (input) => {
    minted.push(input);
    return { capability_token: 'operator-made' };
  });
  bench.layer.answers.set('side-effects.compensate', () => DONE);
  bench.layer.answers.set('side-effects.compensate-all', () => ({
    complete: false,
    outcomes: [DONE, { invocation_id: 'call-0', outcome: 'failed' }],
  }));
  const one = await bench.run(['side-effects', 'compensate', 'call-1', '--arguments', '{"order":"x"}']);
  expect(minted).toMatchObject([{ tool_id: 'cancel', secrets: ['shop'] }]);
  expect(bench.layer.asked.at(-1)).toMatchObject({
    input: { invocation_id: 'call-1', arguments: { order: 'x' } },
    caller: { token: 'operator-made' },
  });
  expect([one.code, one.out]).toEqual([0, expect.stringMatching(/call-1 +order +compensated +call-2/)]);
  const turn = await bench.run(['side-effects', 'compensate', '--turn', 't-1']);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ turn_group_id: 't-1', continue_on_failure: false });
  expect(turn.code).toBe(1);
});

test('side-effects compensate wants calls or a turn, not both and not neither', async () => {
  for (const args of [[], ['call-1', '--turn', 't'], ['a', 'b', '--arguments', '{}']]) {
    expect((await bench.run(['side-effects', 'compensate', ...args])).code).toBe(2);
  }
});
