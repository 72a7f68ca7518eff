import { expect, test, vi } from 'vitest';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { createKeyVerification } from './verify-keys.ts';

const DAY = 86_400_000;
const row = (invocationId: string, more: Partial<InvocationRecord> = {}): InvocationRecord => ({
  invocationId,
  tenantId: 'acme',
  agentDid: 'a',
  toolId: 'pay',
  door: 'rest',
  instanceId: 'one',
  state: 'COMPLETED',
  idempotencyKey: 'k',
  acceptedAt: 10 * DAY,
  warnings: [],
  ...more,
});

const verified = async (held: readonly string[], rows: readonly InvocationRecord[]) => {
  const asked: string[] = [];
  const questions: number[] = [];
  const verification = createKeyVerification({
    keys: {
      holders: async (calls) => {
        questions.push(calls.length);
        await new Promise(setImmediate);
        asked.push(...calls.map(({ invocationId }) => invocationId));
        return calls.filter(({ invocationId }) => held.includes(invocationId));
      },
    },
    ttlMs: DAY,
    now: () => 10 * DAY + 1,
  });
  for (const each of rows) await verification.read([each]);
  return { warnings: await verification.finish(), asked, questions };
};

test('PIPE-09 AUD-07 calls that went well and do not hold their key are counted, and the first is named', async () => {
  const { warnings } = await verified(['held'], [row('held'), row('one'), row('two')]);
  expect(warnings).toEqual([expect.stringContaining('not hold any more: 2, the first is one of acme.')]);
});

test('PIPE-09 AUD-07 keys of calls that failed, had none, or whose key may have expired are not asked for', async () => {
  const rows = [
    row('failed', { state: 'FAILED' }),
    row('expired', { acceptedAt: 9 * DAY + 60_001 }),
    row('just not', { acceptedAt: 9 * DAY + 60_002 }),
  ];
  const { idempotencyKey: _none, ...without } = row('without');
  expect(await verified(['just not'], [...rows, without])).toMatchObject({ warnings: [], asked: ['just not'] });
});

test('PIPE-09 AUD-07 keys are asked for ten thousand at once, and those missing are counted over all questions', async () => {
  const { warnings, questions } = await verified(
    ['2'],
    Array.from({ length: 10_001 }, (_, at) => row(`${at}`)),
  );
  expect(questions).toEqual([10_000, 1]);
  expect(warnings).toEqual([expect.stringContaining('any more: 10000, the first is 0 of acme.')]);
});

test('PIPE-09 AUD-07 a key that expires while the record is read is not missed', async () => {
  const holders = vi.fn(async () => []);
  let now = 10 * DAY + 1;
  const verification = createKeyVerification({ keys: { holders }, ttlMs: DAY, now: () => now });
  await verification.read([row('one')]);
  now = 11 * DAY;
  expect(await verification.finish()).toEqual([]);
  expect(holders.mock.calls).toEqual([[[]]]);
});
