import type { Clock } from '@sallyport/std/clock';
import fc from 'fast-check';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RateAlgorithm } from '../../packages/sallyport/api/schemas/tool-manifest.ts';
import { type Rate, type RateState, takeRateOnce, wholeMs } from '../../packages/sallyport/src/domain/rate/rate.ts';
import { rateLimiterConformance } from '../../packages/sallyport/src/external/rate-limiter.conformance.ts';
import type { RateLimiter } from '../../packages/sallyport/src/external/rate-limiter.port.ts';
import { memoryRateLimiter } from '../../packages/sallyport/src/storage/memory/memory-rate-limiter.ts';
import { postgresRateLimiter } from '../../packages/sallyport/src/storage/postgres/calls/postgres-rate-limiter.ts';
import { poolTarget } from '../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';

let databases: TestDatabases;
let pool: Pool;
beforeAll(async () => {
  databases = await embeddedDatabases();
  pool = new Pool({ ...poolTarget(await databases.fresh()), max: 8 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
});
afterAll(async () => {
  await pool.end();
  await databases.close();
});

const close = async (): Promise<void> => undefined;
rateLimiterConformance(test, 'memory', async (clock) => ({ limiter: memoryRateLimiter({ clock }), close }));
rateLimiterConformance(test, 'PostgreSQL', async (clock) => {
  await pool.query('delete from sallyport.rate_counts');
  return { limiter: postgresRateLimiter(pool, { clock }), close };
});

/** A pause before a call, in ms; `waited` is the wait that the last answer named. */
type Pause = number | 'waited';
const PAUSE = fc.oneof(
  fc.constant('waited' as const),
  fc.constant('waited' as const),
  fc.integer({ min: 0, max: 3 }),
  fc.integer({ min: 0, max: 1500 }),
  fc.integer({ min: 0, max: 150_000 }),
);
const PER_MINUTE = fc.constantFrom(1, 3, 7, 60);
const BURST = fc.constantFrom(1, 4);
/** A time of this century that is not a whole second. */
const START_MS = 1_700_000_000_123;

/** Compares a limiter with the rules: calls with one key, each after a pause and with its own limit. */
async function agrees(
  calls: readonly { readonly pause: Pause; readonly rate: Rate }[],
  limiterOf: (clock: Clock, call: number) => RateLimiter,
): Promise<void> {
  await pool.query('delete from sallyport.rate_counts');
  let now = START_MS;
  const clock = { now: () => now, monotonic: () => now };
  let state: RateState | undefined;
  let waitMs = 0;
  for (const [index, { pause, rate }] of calls.entries()) {
    now += pause === 'waited' ? waitMs : pause;
    const taken = takeRateOnce(state, rate, now);
    state = taken.state;
    waitMs = wholeMs(taken.waitMs);
    expect(await limiterOf(clock, index).take('key', rate)).toBe(waitMs);
  }
}

describe.each(RateAlgorithm.enum)('PostgreSQL counts %s as the rule says', (algorithm) => {
  test('EXT-02.6 under limits that change', async () => {
    const rate = fc.record({ algorithm: fc.constant(algorithm), per_minute: PER_MINUTE, burst: BURST });
    const calls = fc.array(fc.record({ pause: PAUSE, rate }), { minLength: 1, maxLength: 40 });
    const run = fc.asyncProperty(calls, (given) => agrees(given, (clock) => postgresRateLimiter(pool, { clock })));
    await fc.assert(run, { numRuns: 30 });
  });

  test('EXT-02.6 to the ms, where 32.282 times 1000 is less than 32282 in floating point', async () => {
    const rate = { algorithm, per_minute: 1, burst: 1 };
    const pauses: readonly Pause[] = [0, 32_282, 'waited'];
    const calls = pauses.map((pause) => ({ pause, rate }));
    await agrees(calls, (clock) => postgresRateLimiter(pool, { clock }));
  });

  test('EXT-02 through two instances, which remember what they refused', async () => {
    const pauses = fc.array(fc.record({ pause: PAUSE, instance: fc.nat(1) }), { minLength: 1, maxLength: 40 });
    const run = fc.asyncProperty(pauses, PER_MINUTE, BURST, async (given, per_minute, burst) => {
      const limiters: RateLimiter[] = [];
      const calls = given.map(({ pause }) => ({ pause, rate: { algorithm, per_minute, burst } }));
      await agrees(calls, (clock, index) => {
        const { instance = 0 } = given[index] ?? {};
        limiters[instance] ??= postgresRateLimiter(pool, { clock });
        return limiters[instance];
      });
    });
    await fc.assert(run, { numRuns: 30 });
  });
});

test('EXT-02 counts that equal none are removed, others stay', async () => {
  await pool.query('delete from sallyport.rate_counts');
  let now = 1_700_000_000_000;
  const limiter = postgresRateLimiter(pool, { clock: { now: () => now, monotonic: () => now } });
  for (const algorithm of RateAlgorithm.enum)
    for (const key of ['a', 'b']) await limiter.take(key, { algorithm, per_minute: 1, burst: 1 });
  expect(await limiter.forget(100)).toBe(0);
  now += 61_000;
  await limiter.take('a', { algorithm: 'token_bucket', per_minute: 1, burst: 1 });
  expect(await limiter.forget(3)).toBe(3);
  expect(await limiter.forget(100)).toBe(4);
  expect((await pool.query('select 1 from sallyport.rate_counts')).rowCount).toBe(1);
});

test('EXT-02 a count that cannot be reached lets nothing pass', async () => {
  const away = new Pool({ host: '/nowhere', connectionTimeoutMillis: 1000 });
  const rate = { algorithm: 'token_bucket', per_minute: 1, burst: 1 } as const;
  await expect(postgresRateLimiter(away).take('key', rate)).rejects.toMatchObject({ code: 'E3812' });
  await away.end();
});

test('EXT-02 a caller that does not wait reaches no database', async () => {
  await pool.query('delete from sallyport.rate_counts');
  let asked = 0;
  const counted = {
    query(...given: [string]) {
      asked += 1;
      return pool.query(...given);
    },
  } as unknown as Pool;
  const limiter = postgresRateLimiter(counted);
  const rate = { algorithm: 'token_bucket', per_minute: 1, burst: 1 } as const;
  expect(await limiter.take('key', rate)).toBe(0);
  const first = Number(await limiter.take('key', rate));
  for (let each = 0; each < 20; each += 1) {
    const waitMs = Number(await limiter.take('key', rate));
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(first);
  }
  expect(asked).toBe(2);
  // Under another limit it may pass sooner.
  expect(await limiter.take('key', { ...rate, per_minute: 60_000 })).toBeLessThanOrEqual(1);
  await limiter.take('key', { ...rate, per_minute: 60_000, burst: 2 });
  expect(asked).toBe(4);
});
