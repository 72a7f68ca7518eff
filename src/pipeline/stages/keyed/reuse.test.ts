import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

const keyed = (key: string, n = 1) => ({
  tool_id: 'count',
  parameters: { n },
  execution_options: { idempotency_key: key },
});

async function counting() {
  const made = await pipeline();
  let runs = 0;
  await made.add(manifest('count', { side_effect_policy: 'irreversible' }), async ({ n }) => {
    runs += 1;
    await wait(20);
    if (n === 99) throw new Error('no');
    return { runs };
  });
  return { ...made, runs: () => runs };
}

describe('a call with an idempotency key', () => {
  test('is run once, and its duplicate gets the same answer', async () => {
    const { call, runs } = await counting();
    const first = await call(keyed('k'));
    const second = await call(keyed('k'));
    expect(second).toMatchObject({ invocationId: first.invocationId, result: { runs: 1 }, metadata: { cached: true } });
    expect(runs()).toBe(1);
  });

  test('waits for a duplicate that runs', async () => {
    const { call, runs } = await counting();
    const both = await Promise.all([call(keyed('k')), call(keyed('k'))]);
    expect(both.map(({ result }) => result)).toEqual([{ runs: 1 }, { runs: 1 }]);
    expect(runs()).toBe(1);
  });

  test('conflicts when the arguments differ', async () => {
    const { call } = await counting();
    await call(keyed('k'));
    expect((await call(keyed('k', 2))).failure?.code).toBe('E3802');
  });

  test('gives a failure again that came after the tool ran, and frees the key of a refusal before', async () => {
    const { call, runs, token } = await counting();
    expect((await call(keyed('k', 99))).failure?.code).toBe('E3109');
    expect((await call(keyed('k', 99))).failure?.code).toBe('E3109');
    expect(runs()).toBe(1);
    const refused = await call({
      ...keyed('free'),
      execution_options: { idempotency_key: 'free', require_approval: true },
    });
    expect(refused.failure?.code).toBe('E3806');
    expect((await call(keyed('free'))).state).toBe('COMPLETED');
    const otherAgent = await token({ agent_did: 'did:agent:b' });
    expect((await call({ ...keyed('k', 3), capability_token: otherAgent })).state).toBe('COMPLETED');
  });
});

describe('an invocation id', () => {
  test('is used once', async () => {
    const { call } = await counting();
    const request = { tool_id: 'count', parameters: { n: 1 }, invocation_id: 'mine' };
    expect(await call(request)).toMatchObject({ invocationId: 'mine', state: 'COMPLETED' });
    expect((await call(request)).failure?.code).toBe('E3802');
  });

  test('of a running call is refused to another', async () => {
    const { call } = await counting();
    const request = { tool_id: 'count', parameters: { n: 1 }, invocation_id: 'mine' };
    const ends = await Promise.all([call(request), call(request)]);
    expect(ends.map(({ failure }) => failure?.code).sort()).toEqual(['E3802', undefined]);
  });
});
