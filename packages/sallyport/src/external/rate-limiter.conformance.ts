import { equal, ok } from 'node:assert/strict';
import type { Clock } from '@sallyport/std/clock';
import { RateAlgorithm } from '../../api/schemas/tool-manifest.ts';
import type { Rate } from '../domain/rate/rate.ts';
import type { RateLimiter } from './rate-limiter.port.ts';

/** A clock that the suite advances. */
interface TurnedClock extends Clock {
  turn(ms: number): void;
}

type Opened = { readonly limiter: RateLimiter; close(): Promise<void> };
type Check = (name: string, run: (limiter: RateLimiter, clock: TurnedClock) => Promise<void>) => void;

const bucket = (per_minute: number, burst: number): Rate => ({ algorithm: 'token_bucket', per_minute, burst });
const leaky = (per_minute: number): Rate => ({ algorithm: 'leaky_bucket', per_minute, burst: 10 });
const fixed = (per_minute: number): Rate => ({ algorithm: 'fixed_window', per_minute, burst: 10 });
const sliding = (per_minute: number): Rate => ({ algorithm: 'sliding_window', per_minute, burst: 10 });

/** Conformance of every RateLimiter. `open` returns a limiter without counts each time, which uses only `clock`. */
export function rateLimiterConformance(
  test: (name: string, run: () => Promise<void>) => void,
  adapter: string,
  open: (clock: Clock) => Promise<Opened>,
): void {
  const check: Check = (name, run) =>
    test(`EXT-02 ${name} (${adapter})`, async () => {
      const clock = turnedClock();
      const { limiter, close } = await open(clock);
      try {
        await run(limiter, clock);
      } finally {
        await close();
      }
    });
  everyAlgorithm(check);
  tokenBucket(check);
  leakyBucket(check);
  fixedWindow(check);
  slidingWindow(check);
}

function everyAlgorithm(check: Check): void {
  for (const algorithm of RateAlgorithm.enum) {
    const one: Rate = { algorithm, per_minute: 1, burst: 1 };

    check(`${algorithm}: a call passes after the time that was answered and not before`, async (limiter, clock) => {
      for (const per_minute of [1, 7, 60, 90, 999]) {
        const rate = { algorithm, per_minute, burst: 3 };
        const key = String(per_minute);
        clock.turn(333);
        let waitMs = 0;
        while (waitMs === 0) waitMs = await limiter.take(key, rate);
        clock.turn(waitMs - 1);
        equal(await limiter.take(key, rate), 1);
        clock.turn(1);
        equal(await limiter.take(key, rate), 0);
      }
    });

    check(`${algorithm}: a refused call counts nothing`, async (limiter, clock) => {
      equal(await limiter.take('key', one), 0);
      const waitMs = await limiter.take('key', one);
      for (let refused = 0; refused < 20; refused += 1) {
        clock.turn(1);
        equal(await limiter.take('key', one), waitMs - refused - 1);
      }
      clock.turn(waitMs - 20);
      equal(await limiter.take('key', one), 0);
    });

    check(`${algorithm}: what is given back can be taken again, once`, async (limiter, clock) => {
      const rate = { algorithm, per_minute: 2, burst: 2 };
      for (const turned of [0, 200_000]) {
        clock.turn(turned);
        while ((await limiter.take('key', rate)) === 0);
        const waitMs = limiter.knownWaitMs('key', rate);
        ok(waitMs > 0);
        await limiter.giveBack('key', rate);
        equal(limiter.knownWaitMs('key', rate), 0);
        equal(await limiter.take('key', rate), 0);
        equal(await limiter.take('key', rate), waitMs);
      }
      await limiter.giveBack('unknown', rate);
    });

    check(`${algorithm}: a take that is given back counts nothing`, async (limiter, clock) => {
      const rate = { algorithm, per_minute: 1, burst: 1 };
      for (let taken = 0; taken < 5; taken += 1) {
        equal(await limiter.take('key', rate), 0);
        await limiter.giveBack('key', rate);
        clock.turn(7);
      }
      equal(await limiter.take('key', rate), 0);
      ok((await limiter.take('key', rate)) > 0);
    });

    check(`${algorithm}: keys are counted by themselves`, async (limiter) => {
      const keys = ['one', 'other', '', 'a\0', '\ud800', '__proto__', 'k'.repeat(10_000)];
      for (const key of keys) equal(await limiter.take(key, one), 0);
      for (const key of keys) ok((await limiter.take(key, one)) > 0);
    });

    check(`${algorithm}: of callers at the same time as many pass as may`, async (limiter) => {
      const rate = { algorithm, per_minute: 10, burst: 10 };
      const waits = await Promise.all(Array.from({ length: 50 }, () => limiter.take('key', rate)));
      equal(waits.filter((wait) => wait === 0).length, algorithm === 'leaky_bucket' ? 1 : 10);
    });
  }

  check('each algorithm of a key counts for itself', async (limiter) => {
    for (const algorithm of RateAlgorithm.enum)
      equal(await limiter.take('key', { algorithm, per_minute: 1, burst: 1 }), 0);
  });
}

function tokenBucket(check: Check): void {
  check('a new bucket is full: a burst passes and the next call waits', async (limiter) => {
    for (let taken = 0; taken < 10; taken += 1) equal(await limiter.take('key', bucket(60, 10)), 0);
    equal(await limiter.take('key', bucket(60, 10)), 1000);
  });

  check('no more than a burst is saved up', async (limiter, clock) => {
    equal(await limiter.take('key', bucket(60, 3)), 0);
    clock.turn(3_600_000);
    for (let taken = 0; taken < 3; taken += 1) equal(await limiter.take('key', bucket(60, 3)), 0);
    ok((await limiter.take('key', bucket(60, 3))) > 0);
  });

  check('over a long time as many calls pass as tokens come', async (limiter, clock) => {
    let passed = 0;
    for (let ms = 0; ms < 60_000; ms += 50) {
      clock.turn(50);
      if ((await limiter.take('key', bucket(1000, 7))) === 0) passed += 1;
    }
    ok(passed >= 1000 && passed <= 1007, `${passed} passed`);
  });

  check('a changed limit holds from the next call on', async (limiter, clock) => {
    for (let taken = 0; taken < 5; taken += 1) equal(await limiter.take('key', bucket(60, 5)), 0);
    equal(await limiter.take('key', bucket(6000, 50)), 1000 / 100);
    clock.turn(10);
    equal(await limiter.take('key', bucket(6000, 50)), 0);
    clock.turn(60_000);
    equal(await limiter.take('key', bucket(60, 1)), 0);
    equal(await limiter.take('key', bucket(60, 1)), 1000);
    equal(await limiter.take('key', bucket(6000, 1)), 1000 / 100);
  });
}

function leakyBucket(check: Check): void {
  check('a leaky bucket lets calls pass one by one, and saves up nothing', async (limiter, clock) => {
    equal(await limiter.take('key', leaky(60)), 0);
    equal(await limiter.take('key', leaky(60)), 1000);
    clock.turn(3_600_000);
    equal(await limiter.take('key', leaky(60)), 0);
    equal(await limiter.take('key', leaky(60)), 1000);
    clock.turn(400);
    equal(await limiter.take('key', leaky(60)), 600);
    equal(await limiter.take('key', leaky(120)), 100);
  });
}

function fixedWindow(check: Check): void {
  check('a fixed window begins with its first call, and the next one is whole again', async (limiter, clock) => {
    for (const at of [0, 20_000, 39_000]) {
      clock.turn(at);
      equal(await limiter.take('key', fixed(3)), 0);
    }
    equal(await limiter.take('key', fixed(3)), 1000);
    clock.turn(1000);
    for (let taken = 0; taken < 3; taken += 1) equal(await limiter.take('key', fixed(3)), 0);
    equal(await limiter.take('key', fixed(3)), 60_000);
    equal(await limiter.take('key', fixed(4)), 0);
    equal(await limiter.take('key', fixed(2)), 60_000);
    clock.turn(90_000);
    equal(await limiter.take('key', fixed(1)), 0);
    equal(await limiter.take('key', fixed(1)), 60_000);
  });
}

function slidingWindow(check: Check): void {
  check('a sliding window counts the last 60 s, by whole seconds', async (limiter, clock) => {
    // The clock begins at a whole second; each value moves the clock on.
    for (const ms of [0, 20_500, 39_000]) {
      clock.turn(ms);
      equal(await limiter.take('key', sliding(3)), 0);
    }
    equal(await limiter.take('key', sliding(3)), 1500);
    clock.turn(1500);
    equal(await limiter.take('key', sliding(3)), 0);
    equal(await limiter.take('key', sliding(3)), 20_000);
    equal(await limiter.take('key', sliding(1)), 61_000);
    clock.turn(200_000);
    equal(await limiter.take('key', sliding(1)), 0);
    equal(await limiter.take('key', sliding(1)), 61_000);
  });

  check('many calls of one second leave a sliding window together', async (limiter, clock) => {
    for (let taken = 0; taken < 50; taken += 1) {
      if (taken % 10 === 0) clock.turn(1000);
      equal(await limiter.take('key', sliding(50)), 0);
    }
    equal(await limiter.take('key', sliding(50)), 57_000);
    clock.turn(57_000);
    for (let taken = 0; taken < 10; taken += 1) equal(await limiter.take('key', sliding(50)), 0);
    equal(await limiter.take('key', sliding(50)), 1000);
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
