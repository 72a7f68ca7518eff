import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { RateAlgorithm } from '../../../packages/sallyport/api/schemas/tool-manifest.ts';
import {
  embeddedDatabases,
  run,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { DOUBLE, double, type OpenLayer, openLayer, post } from '../layer.fixture.ts';

let databases: TestDatabases;
beforeAll(async () => {
  databases = await embeddedDatabases(true);
});
afterAll(() => databases.close());

const opened: OpenLayer[] = [];
async function twoLayers(settings: Parameters<typeof openLayer>[0] = {}) {
  const connection = await databases.fresh();
  const url = 'url' in connection ? connection.url : '';
  for (let instance = 0; instance < 2; instance += 1) {
    const open = await openLayer({ 'database.url': url, ...settings });
    opened.push(open);
  }
  const [one, two] = opened as [OpenLayer, OpenLayer];
  return { one, two, connection };
}
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

/** Registers the same tool at both instances, with a rate limit that lets no second call pass while the test runs. */
async function addTool(layers: readonly OpenLayer[], toolId: string, rate_limit: object) {
  const tool = { ...DOUBLE, tool_id: toolId, execution_config: { rate_limit } } as typeof DOUBLE;
  for (const { layer } of layers) await layer.registerFunction(tool, double);
}
const call = (open: OpenLayer, toolId: string) =>
  post(open, '/v1/invocations', JSON.stringify({ tool_id: toolId, parameters: { n: 4 } }));

describe('two instances over one PostgreSQL', () => {
  test('EXT-02.4 EXT-02.7 EXT-02.8 share the count of a rate limit, by each algorithm, and answer with the wait', async () => {
    const { one, two, connection } = await twoLayers();
    for (const algorithm of RateAlgorithm.enum) {
      await addTool([one, two], algorithm, { per_minute: 1, burst: 1, algorithm });
      expect((await call(one, algorithm)).status).toBe(200);
      for (const each of [two, one]) {
        const { status, body } = await call(each, algorithm);
        expect(status).toBe(429);
        expect(body).toMatchObject({ error: { e_code: 'E3303', retry_after_ms: expect.any(Number) } });
        const { retry_after_ms: waitMs } = body['error'] as { retry_after_ms: number };
        expect(waitMs).toBeGreaterThan(0);
        expect(waitMs).toBeLessThanOrEqual(61_000);
      }
    }
    expect(await run(connection, 'select 1 from sallyport.rate_counts')).toHaveLength(RateAlgorithm.enum.length);
  });

  test('EXT-02 a call whose rate cannot be counted is refused', async () => {
    const { one, connection } = await twoLayers({ 'rate.algorithm': 'fixed_window' });
    await addTool([one], 'limited', { per_minute: 2 });
    expect((await call(one, 'limited')).status).toBe(200);
    await run(connection, 'alter table sallyport.rate_counts rename to away');
    const { body } = await call(one, 'limited');
    expect(body).toMatchObject({ error: { e_code: 'E3812' } });
    await run(connection, 'alter table sallyport.away rename to rate_counts');
    expect((await call(one, 'limited')).status).toBe(200);
    expect(await run(connection, 'select amount from sallyport.rate_counts')).toEqual([{ amount: 2 }]);
    expect(await call(one, 'limited')).toMatchObject({ body: { error: { e_code: 'E3303' } } });
  });

  test('EXT-02 count by themselves where rate.store is memory', async () => {
    const { one, two, connection } = await twoLayers({ 'rate.store': 'memory' });
    await addTool([one, two], 'limited', { per_minute: 1, burst: 1 });
    for (const each of [one, two]) {
      expect((await call(each, 'limited')).status).toBe(200);
      expect((await call(each, 'limited')).status).toBe(429);
    }
    expect(await run(connection, 'select 1 from sallyport.rate_counts')).toEqual([]);
  });
});
