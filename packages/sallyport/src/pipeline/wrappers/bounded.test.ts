import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { nonceOf } from '../../domain/invocation/record.ts';
import { ConnectionLost } from '../../domain/principal/connection-lost.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';

/** A layer with a tool that runs until its signal, or the test, ends it. */
async function layer(limits: { timeoutMsMax?: number; laterTimeoutMsMax?: number } = {}) {
  const { parts } = await pipeline();
  const made = await pipeline({ limits: { ...parts.limits, ...limits }, workers: { refuses: () => undefined } });
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  await made.add(manifest('tool'), async (_parameters, { signal }) => {
    begun.resolve();
    signal.addEventListener('abort', () => end.reject(signal.reason), { once: true });
    await end.promise;
    return 'done';
  });
  return { ...made, begun: begun.promise, end: () => end.resolve() };
}

const CALL = { tool_id: 'tool', parameters: { n: 1 } };

describe('the longest that a call may last', () => {
  test('PIPE-06.1 ends a call for which its caller waits', async () => {
    const { call } = await layer({ timeoutMsMax: 1 });
    const { failure } = await call(CALL);
    expect(failure).toMatchObject({ code: 'E3103', details: { timeout_ms: 1 } });
    expect(failure?.message).toBe('No synchronous call may last longer than 0.001 s.');
  });

  test('PIPE-12 is another one for a call that a worker runs', async () => {
    const { call, run } = await layer({ laterTimeoutMsMax: 1 });
    const record = await call({ ...CALL, execution_options: { async_mode: true } });
    const { waiting, invocationId, acceptedAt, door } = record;
    if (waiting === undefined) throw new Error('the call does not wait');
    const resumed = { invocationId, nonce: nonceOf(record), acceptedAt, waiting };
    const { failure } = await run({ request: waiting.request, caller: { door } }, resumed);
    expect(failure).toMatchObject({ code: 'E3103', details: { timeout_ms: 1 } });
    expect(failure?.message).toBe('No call may last longer than 0.001 s.');
  });
});

describe('a call whose caller loses the connection', () => {
  test('PIPE-09 runs to its end under an idempotency key, and the caller who asks again has its answer', async () => {
    const { call, begun, end } = await layer();
    const controller = new AbortController();
    const keyed = { ...CALL, execution_options: { idempotency_key: 'k' } };
    const first = call(keyed, { signal: controller.signal });
    await begun;
    controller.abort(new ConnectionLost());
    end();
    expect(await first).toMatchObject({ state: 'COMPLETED', result: 'done' });
    expect(await call(keyed)).toMatchObject({ result: 'done', metadata: { cached: true } });
  });

  test('PIPE-06 ends without a key, and with one when the caller cancels', async () => {
    for (const [reason, execution_options] of [
      [new ConnectionLost(), {}],
      [new Error('cancelled'), { idempotency_key: 'k' }],
    ] as const) {
      const { call, begun } = await layer();
      const controller = new AbortController();
      const ended = call({ ...CALL, execution_options }, { signal: controller.signal });
      await begun;
      controller.abort(reason);
      expect(await ended).toMatchObject({ state: 'ABORTED', failure: { code: 'E3805' } });
    }
  });

  test('PIPE-06 that has lost it already when the call comes in runs nothing, under a key neither', async () => {
    const gone = AbortSignal.abort(new ConnectionLost());
    const { call, end } = await layer();
    end();
    for (const execution_options of [{}, { idempotency_key: 'k' }]) {
      const record = await call({ ...CALL, execution_options }, { signal: gone });
      expect(record).toMatchObject({ state: 'ABORTED', failure: { code: 'E3805' }, metadata: { attempts: 0 } });
    }
  });

  test('PIPE-06 for a reason of the layer ends with that reason', async () => {
    const { call, begun } = await layer();
    const controller = new AbortController();
    const ended = call(CALL, { signal: controller.signal });
    await begun;
    controller.abort(new ToolLayerError('E3814', 'The layer stops.'));
    expect(await ended).toMatchObject({ failure: { code: 'E3814', message: 'The layer stops.' } });
  });
});
