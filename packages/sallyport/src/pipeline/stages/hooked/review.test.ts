import { expect, test } from 'vitest';
import type { AfterAnswer, Hook, HookedResult } from '../../../hooks/hook.ts';
import { createHooks } from '../../../hooks/run-hooks.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

const after = (id: string, run: (call: HookedResult) => AfterAnswer | undefined): Hook => ({ id, at: 'after', run });
const typed = {
  side_effect_policy: 'irreversible' as const,
  result_schema: { type: 'object', properties: { value: { type: 'number' } }, required: ['value'] },
};

async function hooked(hooks: readonly Hook[]) {
  const made = await pipeline({ hooks: createHooks(hooks) });
  await made.add(manifest('double', typed), ({ n }) => ({ value: Number(n) * 2 }));
  return { ...made, call: () => made.call({ tool_id: 'double', parameters: { n: 1 } }) };
}

test('PIPE-14.1 a hook after a call sees its result, and the verdict is in the audit', async () => {
  const seen: HookedResult[] = [];
  const { call, eventsOf } = await hooked([after('one', (told) => void seen.push(told))]);
  const record = await call();
  expect(record.result).toEqual({ value: 2 });
  expect(seen).toMatchObject([{ result: { value: 2 }, toolError: false, arguments: { n: 1 } }]);
  const end = (await eventsOf(record.invocationId)).at(-1)?.data;
  expect(end?.['hooks']).toEqual([{ id: 'one', at: 'after', outcome: 'allow', ms: expect.any(Number) }]);
});

test('PIPE-14.5 may replace the result, which is inspected; the next hook sees it', async () => {
  const seen: unknown[] = [];
  const { call } = await hooked([
    after('a', () => ({ outcome: 'rewrite', result: { value: 7 } })),
    after('b', ({ result }) => void seen.push(result)),
  ]);
  expect((await call()).result).toEqual({ value: 7 });
  expect(seen).toEqual([{ value: 7 }]);
});

test.each([
  ['breaks the schema', { value: 'seven' }],
  ['is no JSON', { value: 7n }],
])('PIPE-14 a result of a hook that %s does not reach the caller', async (_name, result) => {
  const { call } = await hooked([after('bad', () => ({ outcome: 'rewrite', result }))]);
  const record = await call();
  expect(record.state).toBe('FAILED');
  expect(record).not.toHaveProperty('result');
});

test('PIPE-14.3 may withhold the result: the call ran, failed, and says so', async () => {
  const { call, eventsOf } = await hooked([after('no', () => ({ outcome: 'refuse', reason: 'Too private.' }))]);
  const record = await call();
  expect(record).toMatchObject({ state: 'FAILED', failure: { code: 'E3815' }, metadata: { attempts: 1 } });
  expect(record.failure?.message).toContain('The tool ran');
  expect(record).not.toHaveProperty('result');
  expect((await eventsOf(record.invocationId)).at(-1)?.data).toMatchObject({
    state: 'FAILED',
    hooks: [{ id: 'no', outcome: 'refuse' }],
  });
});
