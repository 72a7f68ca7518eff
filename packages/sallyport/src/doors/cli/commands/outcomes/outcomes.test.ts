import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CliBench, createCliBench } from '../../run-cli.fixture.ts';

let bench: CliBench;
beforeEach(async () => {
  bench = await createCliBench();
});
afterEach(() => bench.remove());

const OUTCOME = {
  invocation_id: 'call-1',
  tool_id: 'pay',
  tool_version: '1.0.0',
  agent_did: 'did:agent:a',
  accepted_at: '2026-01-01T00:00:00.000Z',
  error: {
    code: 'outcome_unknown' as const,
    e_code: 'E3804',
    category: 'PermanentFailure' as const,
    message: 'Cut off.',
    retryable: false,
  },
};
const SETTLEMENT = { outcome: 'happened' as const, how: 'person' as const, settled_at: '2026-01-02T00:00:00.000Z' };

test('outcomes list shows what nobody has settled, and says when there is nothing', async () => {
  bench.layer.answers.set('outcomes.list', () => ({ outcomes: [OUTCOME] }));
  const { code, out } = await bench.run(['outcomes', 'list', '--limit', '5', '--after', 'call-0']);
  expect(code).toBe(0);
  expect(out).toMatch(/call-1 +pay +did:agent:a +2026\S+ +not known/);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ limit: 5, after: 'call-0' });
  bench.layer.answers.set('outcomes.list', () => ({ outcomes: [] }));
  expect((await bench.run(['outcomes', 'list'])).err).toContain('no such call');
});

test('outcomes show tells why the outcome is not known', async () => {
  bench.layer.answers.set('outcomes.get', () => OUTCOME);
  expect((await bench.run(['outcomes', 'show', 'call-1'])).out).toMatch(/E3804 Cut off\.[\s\S]*not known/);
  expect(JSON.parse((await bench.run(['outcomes', 'show', 'call-1', '--json'])).out)).toEqual(OUTCOME);
});

test('outcomes settle sends what a person found out', async () => {
  bench.layer.answers.set('outcomes.settle', () => ({ ...OUTCOME, settlement: SETTLEMENT }));
  const argv = [
    'outcomes',
    'settle',
    'call-1',
    'did-not-happen',
    '--note',
    'no entry in the ledger',
    '--result',
    '[1]',
  ];
  expect((await bench.run(argv)).code).toBe(0);
  expect(bench.layer.asked.at(-1)?.input).toEqual({
    invocation_id: 'call-1',
    outcome: 'did_not_happen',
    note: 'no entry in the ledger',
    result: [1],
  });
});

test('outcomes settle takes two words and a note, and nothing else', async () => {
  for (const argv of [
    ['outcomes', 'settle', 'call-1', 'maybe', '--note', 'x'],
    ['outcomes', 'settle', 'call-1', 'toString', '--note', 'x'],
    ['outcomes', 'settle', 'call-1', 'happened'],
    ['outcomes', 'settle', 'call-1', 'happened', '--note', 'x', '--result', '{'],
    ['outcomes', 'settle', 'call-1', 'happened', '--note', 'x', '--result', '9007199254740993'],
    ['outcomes', 'reconcile', 'call-1', 'look', '--parameters', '[]'],
  ]) {
    expect((await bench.run(argv)).code).toBe(2);
  }
  expect(bench.layer.asked).toEqual([]);
});

test('outcomes reconcile names the tool that looks', async () => {
  bench.layer.answers.set('outcomes.reconcile', () => ({
    ...OUTCOME,
    settlement: { ...SETTLEMENT, how: 'reconcile' },
  }));
  const argv = ['outcomes', 'reconcile', 'call-1', 'look', '--parameters', '{"id":7}', '--token', 't'];
  expect((await bench.run(argv)).out).toContain('reconcile');
  expect(bench.layer.asked.at(-1)?.input).toEqual({
    invocation_id: 'call-1',
    tool_id: 'look',
    parameters: { id: 7 },
    capability_token: 't',
  });
});
