import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../../test/stores/memory-ledger-store.ts';
import { memoryOutcomeStore } from '../../../../test/stores/outcomes/memory-outcome-store.ts';
import type { OutcomeSettlement } from '../../outcome-store.port.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

/** A call under a key whose first run was cut off, and a repetition under the same key. */
async function cutOff() {
  const store = memoryLedgerStore();
  const outcomes = memoryOutcomeStore(store);
  const made = await pipeline({ store, outcomes });
  let runs = 0;
  await made.add(manifest('pay', { side_effect_policy: 'irreversible' }), () => {
    runs += 1;
    if (runs === 1) throw new ToolLayerError('E3107', 'The connection broke.', { details: { reached: true } });
    return { runs };
  });
  const ask = (key = 'k', n = 1) =>
    made.call({ tool_id: 'pay', parameters: { n }, execution_options: { idempotency_key: key } });
  const first = await ask();
  const settle = (more: Partial<OutcomeSettlement>) =>
    outcomes.settle({
      tenantId: 'acme',
      invocationId: first.invocationId,
      outcome: 'happened',
      how: 'person',
      by: 'did:op',
      at: 1,
      ...more,
    });
  return { ...made, ask, first, settle, runs: () => runs };
}

test('PIPE-09 PIPE-13 a duplicate is told that nobody knows, until somebody has found out', async () => {
  const { ask, first, runs } = await cutOff();
  expect(first.failure?.code).toBe('E3804');
  expect(await ask()).toMatchObject({ invocationId: first.invocationId, failure: { code: 'E3804' } });
  expect(runs()).toBe(1);
});

test('PIPE-09.1 PIPE-09.2 PIPE-13 PIPE-11.7 a duplicate of a call that happened is answered with what was found out, and runs nothing', async () => {
  const { ask, first, settle, runs, store } = await cutOff();
  await settle({ result: { paid: 7 }, note: 'The bank shows it.' });
  const again = await ask();
  expect(again).toMatchObject({
    invocationId: first.invocationId,
    state: 'COMPLETED',
    result: { paid: 7 },
    metadata: { cached: true },
    warnings: [
      {
        code: 'outcome_settled',
        message: expect.stringMatching(/ happened\.$/),
        details: {
          invocation_id: first.invocationId,
          outcome: 'happened',
          how: 'person',
          settled_at: '1970-01-01T00:00:00.001Z',
          settled_by: 'did:op',
          note: 'The bank shows it.',
        },
      },
    ],
  });
  expect(again).not.toHaveProperty('failure');
  expect(runs()).toBe(1);
  expect(await store.findInvocation('acme', first.invocationId)).toMatchObject({ failure: { code: 'E3804' } });
  expect((await ask('k', 2)).failure?.code).toBe('E3802');
});

test('PIPE-13 one that happened with a result that nobody found is answered without one', async () => {
  const { ask, settle } = await cutOff();
  await settle({});
  const again = await ask();
  expect(again.state).toBe('COMPLETED');
  expect(again).not.toHaveProperty('result');
  expect(again.warnings[0]?.message).toContain('What it answered is not known');
});

test('PIPE-09 PIPE-13 a duplicate of a call that did not happen runs under its key, once, and says why', async () => {
  const { ask, first, settle, runs } = await cutOff();
  await settle({ outcome: 'did_not_happen' });
  const both = await Promise.all([ask(), ask(), ask()]);
  expect(both.map(({ result }) => result)).toEqual([{ runs: 2 }, { runs: 2 }, { runs: 2 }]);
  expect(new Set(both.map(({ invocationId }) => invocationId)).size).toBe(1);
  expect(runs()).toBe(2);
  const told = both.flatMap(({ warnings }) => warnings).find(({ code }) => code === 'outcome_settled');
  expect(told?.details).toMatchObject({ outcome: 'did_not_happen', invocation_id: first.invocationId });
  expect(told?.details).not.toHaveProperty('note');
  expect(told?.message).toMatch(/did not happen, so this call ran\.$/);
  expect((await ask()).result).toEqual({ runs: 2 });
});
