import { equal, ok } from 'node:assert/strict';
import type { Clock } from '@sallyport/std/clock';
import type { RateLimiter } from './rate-limiter.port.ts';

/** A clock that the suite advances. */
interface TurnedClock extends Clock {
  turn(ms: number): void;
}

/** Conformance of every RateLimiter. `open` returns a limiter without buckets each time, which uses only `clock`. */
export function rateLimiterConformance(
  test: (name: string, run: () => Promise<void>) => void,
  adapter: string,
  open: (clock: Clock) => Promise<{ readonly limiter: RateLimiter; close(): Promise<void> }>,
): void {
  const check = (name: string, run: (limiter: RateLimiter, clock: TurnedClock) => Promise<void>): void =>
    test(`${name} (${adapter})`, async () => {
      const clock = turnedClock();
      const { limiter, close } = await open(clock);
      try {
        await run(limiter, clock);
      } finally {
        await close();
      }
    });

  check('a new bucket is full: a burst passes and the next call waits', async (limiter) => {
    const limit = { per_minute: 60, burst: 10 };
    for (let taken = 0; taken < 10; taken += 1) equal(await limiter.take('key', limit), 0);
    equal(await limiter.take('key', limit), 1000);
  });

  check('a token comes after the time that was answered and not before', async (limiter, clock) => {
    const limit = { per_minute: 90, burst: 1 };
    equal(await limiter.take('key', limit), 0);
    const waitMs = await limiter.take('key', limit);
    equal(waitMs, 667);
    clock.turn(waitMs - 1);
    equal(await limiter.take('key', limit), 1);
    clock.turn(1);
    equal(await limiter.take('key', limit), 0);
  });

  check('a refused call takes nothing', async (limiter, clock) => {
    const limit = { per_minute: 60, burst: 1 };
    equal(await limiter.take('key', limit), 0);
    for (let refused = 0; refused < 100; refused += 1) ok((await limiter.take('key', limit)) > 0);
    clock.turn(1000);
    equal(await limiter.take('key', limit), 0);
  });

  check('no more than a burst is saved up', async (limiter, clock) => {
    const limit = { per_minute: 60, burst: 3 };
    equal(await limiter.take('key', limit), 0);
    clock.turn(3_600_000);
    for (let taken = 0; taken < 3; taken += 1) equal(await limiter.take('key', limit), 0);
    ok((await limiter.take('key', limit)) > 0);
  });

  check('over a long time as many calls pass as tokens flow', async (limiter, clock) => {
    const limit = { per_minute: 1000, burst: 7 };
    let passed = 0;
    for (let ms = 0; ms < 60_000; ms += 10) {
      clock.turn(10);
      if ((await limiter.take('key', limit)) === 0) passed += 1;
    }
    ok(passed >= 1000 && passed <= 1007, `${passed} passed`);
  });

  check('keys have buckets of their own', async (limiter) => {
    const limit = { per_minute: 60, burst: 1 };
    for (const key of ['one', 'other', '', 'a\0', '__proto__']) equal(await limiter.take(key, limit), 0);
    ok((await limiter.take('one', limit)) > 0);
    ok((await limiter.take('__proto__', limit)) > 0);
  });

  check('a changed limit holds from the next call on', async (limiter, clock) => {
    for (let taken = 0; taken < 5; taken += 1) equal(await limiter.take('key', { per_minute: 60, burst: 5 }), 0);
    equal(await limiter.take('key', { per_minute: 6000, burst: 50 }), 1000 / 100);
    clock.turn(10);
    equal(await limiter.take('key', { per_minute: 6000, burst: 50 }), 0);
    clock.turn(60_000);
    equal(await limiter.take('key', { per_minute: 60, burst: 1 }), 0);
    equal(await limiter.take('key', { per_minute: 60, burst: 1 }), 1000);
  });

  check('of callers at the same time a burst passes', async (limiter) => {
    const limit = { per_minute: 60, burst: 10 };
    const waits = await Promise.all(Array.from({ length: 50 }, () => limiter.take('key', limit)));
    equal(waits.filter((wait) => wait === 0).length, 10);
  });
}

function turnedClock(): TurnedClock {
  let at = 1_000;
  return {
    now: () => at,
    monotonic: () => at,
    turn(ms) {
      at += ms;
    },
  };
}
