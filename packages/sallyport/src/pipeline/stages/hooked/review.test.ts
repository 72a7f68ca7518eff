import { expect, test } from 'vitest';
import type { AfterAnswer, Hook, HookedResult } from '../../../hooks/hook.ts';
import { createHooks } from '../../../hooks/run-hooks.ts';
import { newOngoingCall, type OngoingCall, type Resumed } from '../../ongoing/ongoing-call.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';
import { consult } from './consult.ts';
import { hookedCall } from './hooked-call.ts';
import { review } from './review.ts';

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

const CALL = {
  request: { tool_id: 'double' },
  principal: { tenantId: 'acme', agentDid: 'did:agent:a' },
  tool: { manifest: manifest('double') },
  trust: 'trusted',
  parameters: { n: 1 },
  invocationId: 'i',
  hookVerdicts: [],
};
const ongoing = (resumed?: Resumed): OngoingCall =>
  newOngoingCall({ request: CALL.request, caller: { door: 'library' } }, 0, false, resumed);

test('PIPE-14 a hook sees user, session and variables of a call that has them, and no member of one that has none', () => {
  const plain = hookedCall(CALL as never, ongoing());
  expect(plain).toEqual({
    ...{ invocationId: 'i', dryRun: false, tenantId: 'acme', agentDid: 'did:agent:a', toolId: 'double' },
    ...{ toolVersion: '1.0.0', sideEffect: 'pure', trust: 'trusted', arguments: { n: 1 } },
  });
  expect(Object.keys(plain)).not.toContain('userDid');
  const principal = { ...CALL.principal, userDid: 'did:user:u', sessionId: 's' };
  const request = { ...CALL.request, execution_options: { environment: { A: '1' } } };
  expect(hookedCall({ ...CALL, principal, request } as never, ongoing())).toMatchObject({
    ...{ userDid: 'did:user:u', sessionId: 's', environment: { A: '1' } },
  });
});

test('PIPE-14 an error that the tool reported is shown as one, and the verdicts before the call come first', async () => {
  const seen: HookedResult[] = [];
  const hooks = createHooks([after('one', (shown) => void seen.push(shown))]);
  const ran = { result: 'no', toolError: true };
  const before = { id: 'b', at: 'before', outcome: 'allow', ms: 0 };
  const end = await review({ hooks }).run({ ...CALL, ran, hookVerdicts: [before] } as never, ongoing());
  expect(seen).toMatchObject([{ result: 'no', toolError: true }]);
  expect(end).toMatchObject({ outcome: ran, hookVerdicts: [before, { id: 'one' }] });
});

test('PIPE-14 what throws ends the call, with the verdicts so far on record', async () => {
  const broken = { ...createHooks([]), before: () => ['a', 'b'], after: () => ['a', 'b'] };
  const verdict = { id: 'a', at: 'after', outcome: 'allow', ms: 0 };
  const ask = async (hook: unknown) => {
    if (hook === 'b') throw new Error('gone');
    return { verdict };
  };
  const hooks = { ...broken, askBefore: ask, askAfter: ask } as never;
  const thrown = { refused: { code: 'E3900' }, established: { hookVerdicts: [verdict] } };
  expect(await review({ hooks }).run({ ...CALL, ran: { result: 1 } } as never, ongoing())).toMatchObject(thrown);
  const asking = consult({ hooks, limits: {} as never }, {} as never);
  expect(await asking.run(CALL as never, ongoing())).toMatchObject(thrown);
});

test('PIPE-14 hooks are asked before a call waits, and not again when it resumes', async () => {
  const before: Hook = { id: 'no', at: 'before', run: () => ({ outcome: 'refuse', reason: 'No.' }) };
  const asking = consult({ hooks: createHooks([before]), limits: {} as never }, {} as never);
  expect(await asking.run(CALL as never, ongoing())).toMatchObject({ refused: { code: 'E3815' } });
  const waiting = { claims: {}, since: 1 } as unknown as Resumed['waiting'];
  const resumed = { invocationId: 'i', nonce: 'n', acceptedAt: 1, waiting };
  expect(await asking.run(CALL as never, ongoing(resumed))).toEqual({ hookVerdicts: [] });
});

test('PIPE-14.8 after a rewriting that is refused no further hook is asked, and its verdict is in the audit', async () => {
  const asked: string[] = [];
  const rewrites: Hook = {
    id: 'bad',
    at: 'before',
    run: () => ({ outcome: 'rewrite', arguments: { n: 'two' } }),
  };
  const next: Hook = { id: 'next', at: 'before', run: () => void asked.push('next') };
  const { call, eventsOf } = await hooked([rewrites, next]);
  const record = await call();
  expect(record.failure?.code).toBe('E3502');
  expect(asked).toEqual([]);
  expect((await eventsOf(record.invocationId)).at(-1)?.data['hooks']).toMatchObject([
    { id: 'bad', outcome: 'rewrite' },
  ]);
});
