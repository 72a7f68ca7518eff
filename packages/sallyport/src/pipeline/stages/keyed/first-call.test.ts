import { describe, expect, test } from 'vitest';
import { type InvocationRecord, nonceOf } from '../../../domain/invocation/record.ts';
import type { ApprovalQuestions } from '../../approval-questions.port.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';
import { firstCall } from './first-call.ts';

/** A layer with a tool that runs until the test ends it. */
async function layer(approvalQuestions?: ApprovalQuestions) {
  const made = await pipeline({
    workers: { refuses: () => undefined },
    ...(approvalQuestions && { approvalQuestions }),
  });
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  let runs = 0;
  await made.add(manifest('count'), async () => {
    runs += 1;
    begun.resolve();
    await end.promise;
    return { runs };
  });
  return { ...made, begun: begun.promise, end: () => end.resolve(), runs: () => runs };
}

const KEYED = { tool_id: 'count', parameters: { n: 1 }, execution_options: { idempotency_key: 'k' } };

test('PIPE-09 a call that was answered by an earlier one leads those with its own id to that answer', async () => {
  const { call, end, runs } = await layer();
  end();
  expect(await call({ ...KEYED, invocation_id: 'first' })).toMatchObject({ invocationId: 'first' });
  for (let time = 0; time < 2; time += 1)
    expect(await call({ ...KEYED, invocation_id: 'second' })).toMatchObject({
      invocationId: 'first',
      result: { runs: 1 },
      metadata: { cached: true },
    });
  expect(runs()).toBe(1);
});

test('PIPE-09 who waits for the first call can be cancelled, and the first call runs on', async () => {
  const { call, begun, end, runs } = await layer();
  const first = call(KEYED);
  await begun;
  const controller = new AbortController();
  const second = call(KEYED, { signal: controller.signal });
  controller.abort();
  expect(await second).toMatchObject({ state: 'ABORTED', failure: { code: 'E3805' } });
  end();
  expect(await first).toMatchObject({ state: 'COMPLETED', result: { runs: 1 } });
  expect(runs()).toBe(1);
});

test('PIPE-09 ORC-06 who would wait for no answer is not kept while a worker runs the first call', async () => {
  const { call, run, begun, end, runs } = await layer();
  const later = { ...KEYED, execution_options: { idempotency_key: 'k', async_mode: true } };
  const accepted = await call(later);
  const { waiting, invocationId, acceptedAt, door } = accepted;
  if (waiting === undefined) throw new Error('the call does not wait');
  expect(await call(later)).toMatchObject({ invocationId, state: 'AUTHORIZED' });
  const early = call(KEYED);
  const resumed = { invocationId, nonce: nonceOf(accepted), acceptedAt, waiting };
  const running = run({ request: waiting.request, caller: { door } }, resumed);
  await begun;
  expect(await call(later)).toMatchObject({ invocationId, state: 'EXECUTING' });
  // Who waits for the answer gets it, and not what the call does meanwhile.
  const waits = call(KEYED);
  end();
  for (const answer of [early, waits])
    expect(await answer).toMatchObject({ invocationId, state: 'COMPLETED', result: { runs: 1 } });
  expect(await running).toMatchObject({ state: 'COMPLETED' });
  expect(await call(later)).toMatchObject({ invocationId, state: 'COMPLETED', result: { runs: 1 } });
  expect(runs()).toBe(1);
});

// Leases keep a second run away. Where one comes all the same, its refusal ends the call, but the tool does not run twice.
test('PIPE-09 a call that a worker runs does not reach its tool a second time at once', async () => {
  const { call, run, begun, end, runs } = await layer();
  const accepted = await call({ ...KEYED, execution_options: { async_mode: true } });
  const { waiting, invocationId, acceptedAt, door } = accepted;
  if (waiting === undefined) throw new Error('the call does not wait');
  const again = () =>
    run(
      { request: waiting.request, caller: { door } },
      { invocationId, nonce: nonceOf(accepted), acceptedAt, waiting },
    );
  const running = again();
  await begun;
  expect(await again()).toMatchObject({ failure: { code: 'E3802' } });
  end();
  await running;
  expect(runs()).toBe(1);
});

test('PIPE-09 ORC-03 a duplicate of a call that waits for a person is answered at once with what it waits for', async () => {
  const { call } = await layer({
    standing: () => undefined,
    question: ({ reason, binding }) => ({ approvalId: 'a', reason, binding, requestedAt: 1, expiresAt: 4e12 }),
  });
  const asking = { ...KEYED, execution_options: { idempotency_key: 'k', require_approval: true } };
  const first = await call(asking);
  expect(await call(asking)).toMatchObject({
    invocationId: first.invocationId,
    state: 'AUTHORIZED',
    waiting: { wait: { for: 'approval', approval: { approvalId: 'a' } } },
  });
});

describe('what became of the first call', () => {
  const HOLDER = { tenantId: 'acme', key: 'k', nonce: 'n', invocationId: 'id', instanceId: 'one' };
  const never = new AbortController().signal;
  const row = (more: object) => ({ state: 'COMPLETED', ...more }) as unknown as InvocationRecord;

  /** Rows by id, a list for what is found one time after the other; each look takes `lookMs`. */
  async function became(
    rows: Readonly<Record<string, readonly (InvocationRecord | undefined)[]>>,
    { holder = {}, later = false, claimedBy = 'n' as string | null, runs = false, lookMs = 0, signal = never } = {},
  ) {
    const looked: string[] = [];
    let now = 0;
    const parts = {
      clock: { now: () => 0, monotonic: () => now },
      instanceId: 'one',
      idempotency: { find: async () => (claimedBy === null ? undefined : { nonce: claimedBy }) },
      records: {
        findInvocation: async (_tenant: string, id: string) => {
          const before = looked.filter((each) => each === id).length;
          looked.push(id);
          now += lookMs;
          const found = rows[id] ?? [];
          return found[Math.min(before, found.length - 1)];
        },
      },
      running: { find: () => (runs ? {} : undefined) },
    } as unknown as Parameters<typeof firstCall>[0];
    const what = await firstCall(parts, { ...HOLDER, ...holder } as never, later, signal);
    return { what, looked };
  }

  test('PIPE-09 is in its row, or in that under its nonce when it was refused early', async () => {
    const done = row({});
    expect(await became({ id: [done] })).toEqual({ what: done, looked: ['id'] });
    expect(await became({ n: [done] })).toEqual({ what: done, looked: ['id', 'n'] });
    expect((await became({}, { holder: { nonce: 'id' }, claimedBy: null })).looked).toEqual(['id']);
  });

  test('PIPE-09 is followed from one row to another, eight times', async () => {
    const [leads, done] = [row({ answeredBy: 'other' }), row({})];
    expect(await became({ id: [leads], other: [done] })).toEqual({ what: done, looked: ['id', 'other'] });
    const turns = row({ answeredBy: 'id' });
    expect(await became({ id: [turns] })).toEqual({ what: turns, looked: Array(9).fill('id') });
  });

  test.each<[object, boolean]>([
    [{}, false],
    [{ failure: { code: 'E3109' } }, false],
    [{ failure: { code: 'E3811' }, metadata: { attempts: 0 } }, true],
    [{ failure: { code: 'E3812' }, metadata: { attempts: 0 } }, true],
    [{ failure: { code: 'E3812' }, metadata: { attempts: 1 } }, false],
    [{ failure: { code: 'E3109' }, metadata: { attempts: 0 } }, false],
  ])('PIPE-09 a first call that ended with %j may run again: %s', async (more, isRepeatable) => {
    const first = row({ state: 'FAILED', ...more });
    expect((await became({ id: [first] })).what).toEqual(isRepeatable ? 'repeatable' : first);
  });

  const waiting = (what: string) => ({ waiting: { wait: { for: what } } });
  test.each<[object, boolean, boolean]>([
    [{ state: 'AUTHORIZED', ...waiting('approval') }, false, true],
    [{ state: 'AUTHORIZED', ...waiting('worker') }, false, false],
    [{ state: 'AUTHORIZED', ...waiting('worker') }, true, true],
    [{ state: 'AUTHORIZED' }, true, false],
    [{ state: 'EXECUTING', ...waiting('approval') }, false, false],
    [{ state: 'EXECUTING', ...waiting('worker') }, true, true],
    [{ state: 'EXECUTING' }, true, false],
    [{ state: 'ABORTED' }, false, true],
  ])('PIPE-09 %j answers a duplicate that waits for no answer (%s) at once: %s', async (more, later, isAtOnce) => {
    const [first, done] = [row(more), row({ result: 1 })];
    expect((await became({ id: [first, done] }, { later })).what).toBe(isAtOnce ? first : done);
  });

  test('PIPE-09 it gave its claim back, or another has it', async () => {
    for (const claimedBy of [null, 'other']) expect((await became({}, { claimedBy })).what).toBe('freed');
  });

  test.each([
    ['one', 999, 4],
    ['one', 1_000, 2],
    ['two', 15_000, 4],
    ['two', 30_000, 2],
  ])(
    'PIPE-09 without a row of %s, looked for every %i ms, it is lost after %i looks',
    async (instanceId, ms, looks) => {
      // Each turn looks twice: under the id and under the nonce. The first one waits for half of the time.
      const { what, looked } = await became({}, { holder: { instanceId }, lookMs: ms / 2 });
      expect([what, looked.length]).toEqual(['lost', looks]);
    },
  );

  test('PIPE-09 it is not lost while it runs here, and the wait for it ends with the time of who waits', async () => {
    const gone = new AbortController();
    const reason = new Error('over');
    setImmediate(() => gone.abort(reason));
    await expect(became({}, { runs: true, lookMs: 60_000, signal: gone.signal })).rejects.toBe(reason);
    await expect(became({ id: [row({})] }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
