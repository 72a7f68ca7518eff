import { expect, test } from 'vitest';
import { nonceOf } from '../../../domain/invocation/record.ts';
import type { ApprovalQuestions } from '../../approval-questions.port.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

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
