import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import { memoryQuotaStore } from '../../../test/stores/calls/memory-quota-store.ts';
import { quotaWith } from '../../permission/gates/gates.fixture.ts';
import { manifest, pipeline, retries } from '../pipeline.fixture.ts';

const request = (more: Partial<ToolInvokeRequest> = {}): ToolInvokeRequest => ({
  tool_id: 'count',
  parameters: { n: 1 },
  ...more,
});

async function counting(callsPerSession: number, store = memoryQuotaStore()) {
  const made = await pipeline({ quota: quotaWith({ store, callsPerSession }) });
  let runs = 0;
  await made.add(manifest('count'), () => {
    runs += 1;
    return runs;
  });
  await made.add(manifest('asks', { requires_confirmation: true }), () => 'never');
  const codes = async (...requests: Partial<ToolInvokeRequest>[]) => {
    const ends = [];
    for (const each of requests) ends.push((await made.call(request(each))).failure?.code);
    return ends;
  };
  return { ...made, codes, runs: () => runs };
}

describe('the quota of calls', () => {
  test('PRM-07.1 PRM-07.4 lets as many through as it holds, then refuses', async () => {
    const { codes, call, runs, eventsOf } = await counting(2);
    expect(await codes({}, {}, {})).toEqual([undefined, undefined, 'E3211']);
    expect(runs()).toBe(2);
    const refused = await call(request());
    expect(refused).toMatchObject({ state: 'DENIED', failure: { code: 'E3211' } });
    expect((await eventsOf(refused.invocationId)).at(-1)?.data['state']).toBe('DENIED');
  });

  test('PRM-07 counts neither replays nor what was refused before it ran', async () => {
    const { codes, token, runs } = await counting(2);
    const other = await token({ tool_id: 'other' });
    const keyed = { execution_options: { idempotency_key: 'k' } };
    const ends = await codes(
      keyed,
      keyed,
      keyed,
      { parameters: { n: 'x' } },
      { tool_id: 'asks' },
      { tool_id: 'nowhere' },
      { capability_token: other },
      {},
      {},
      keyed,
    );
    expect(ends).toEqual([
      undefined,
      undefined,
      undefined,
      'E3502',
      'E3806',
      'E3001',
      'E3209',
      undefined,
      'E3211',
      undefined,
    ]);
    expect(runs()).toBe(2);
  });

  test('PRM-07.2 counts a call once, however often it is tried', async () => {
    const quota = quotaWith({ store: memoryQuotaStore(), callsPerSession: 1 });
    const { add, call } = await pipeline({
      quota,
      retries: { ...retries, jitter: 'none', attemptsMax: 5, budgetMs: 10_000 },
    });
    let tries = 0;
    const execution_config = { retry_policy: { base_delay_ms: 1, max_delay_ms: 2 } };
    await add(manifest('flaky', { execution_config }), () => {
      tries += 1;
      if (tries < 3) throw new ToolLayerError('E3310', 'The service cannot be reached.');
      return tries;
    });
    expect(await call({ tool_id: 'flaky', parameters: { n: 1 } })).toMatchObject({ state: 'COMPLETED', result: 3 });
    expect((await call({ tool_id: 'flaky', parameters: { n: 1 } })).failure?.code).toBe('E3211');
  });

  test('PRM-07 of calls at the same time exactly as many run as are left', async () => {
    const { call, runs, parts } = await counting(3);
    const ends = await Promise.all(
      Array.from({ length: 4 }, () => call(request())).concat(Array.from({ length: 8 }, () => call(request()))),
    );
    expect(runs()).toBeLessThanOrEqual(3);
    let left = 0;
    while ((await call(request())).failure === undefined) left += 1;
    expect(ends.filter(({ failure }) => failure === undefined).length + left).toBe(3);
    expect(runs()).toBe(3);
    expect(parts.running.size).toBe(0);
  });

  test('PRM-07 holds over a restart, for each session apart', async () => {
    const store = memoryQuotaStore();
    const before = await counting(1, store);
    const session = (session_id: string) => before.token({ session_id });
    const one = { capability_token: await session('one') };
    expect(await before.codes(one, one)).toEqual([undefined, 'E3211']);
    const after = await counting(1, store);
    expect(await after.codes(one, { capability_token: await session('two') })).toEqual(['E3211', undefined]);
  });

  test('that is spent eats up no rate limit that others share', async () => {
    const { add, call, token } = await counting(1);
    await add(manifest('rated', { execution_config: { rate_limit: { per_minute: 1, burst: 3 } } }), () => 1);
    const mine = { tool_id: 'rated', capability_token: await token({ session_id: 'a' }) };
    for (let at = 0; at < 5; at += 1) await call(request(mine));
    const yours = { tool_id: 'rated', capability_token: await token({ session_id: 'b' }) };
    expect((await call(request(yours))).failure).toBeUndefined();
  });

  test('that cannot be counted lets nothing run', async () => {
    const { codes, runs } = await counting(1, { take: () => Promise.reject(new Error('the disk is full')) });
    expect(await codes({})).toEqual(['E3900']);
    expect(runs()).toBe(0);
  });
});

test('PIPE-08.2 a slot of the agent is free again once its call is over, however it ended', async () => {
  const { parts } = await pipeline();
  const limits = { ...parts.limits, callsPerAgentMax: 1, callsWaitingPerAgentMax: 1 };
  const { add, call } = await pipeline({ limits });
  await add(manifest('count'), ({ n }) => {
    if (n === 13) throw new Error('no');
    return n;
  });
  for (const n of [1, 13, 2]) {
    const { failure } = await call(request({ parameters: { n } }));
    expect(failure?.code).toBe(n === 13 ? 'E3109' : undefined);
  }
  // The second of two waits for the slot of the first; each of the next two needs a slot again.
  for (let time = 0; time < 2; time += 1) {
    const both = await Promise.all([call(request()), call(request())]);
    expect(both.map(({ state }) => state)).toEqual(['COMPLETED', 'COMPLETED']);
  }
});
