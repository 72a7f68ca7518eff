import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JITTERS } from './backoff.ts';
import { nextWait, type RetryBudget } from './next-wait.ts';

const budget: RetryBudget = { attemptsMax: 3, jitter: 'none', baseMs: 100, maxMs: 1000 };
const zero = (): number => 0;

const anyBudget = fc.record({
  attemptsMax: fc.integer({ min: 1, max: 20 }),
  jitter: fc.constantFrom(...JITTERS),
  baseMs: fc.nat(5000),
  maxMs: fc.nat(20_000),
});

describe('whether another attempt follows', () => {
  test('PIPE-05.6 not once the attempts are spent', () => {
    expect(nextWait(budget, { attempts: 2, leftMs: 10_000 }, zero)).toBe(200);
    expect(nextWait(budget, { attempts: 3, leftMs: 10_000 }, zero)).toBeUndefined();
  });

  test('PIPE-05.5 Retry-After is honoured: waited for, and not waited for when it ends after the deadline', () => {
    expect(nextWait(budget, { attempts: 1, leftMs: 10_000, retryAfterMs: 5000 }, zero)).toBe(5000);
    expect(nextWait(budget, { attempts: 1, leftMs: 5000, retryAfterMs: 5000 }, zero)).toBeUndefined();
    expect(nextWait(budget, { attempts: 1, leftMs: 10_000, retryAfterMs: 10 }, zero)).toBe(100);
  });

  test('PIPE-05.6 PIPE-05.7 no run of failures exceeds the attempts or the time, and time only goes on', () => {
    const retryAfters = fc.array(fc.option(fc.nat(4000), { nil: undefined }), { minLength: 25, maxLength: 25 });
    fc.assert(
      fc.property(
        anyBudget,
        fc.nat(30_000),
        retryAfters,
        fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
        (terms, wholeMs, asked, chance) => {
          const random = (): number => chance.next().value as number;
          let at = 0;
          let attempts = 1;
          let previousMs: number | undefined;
          for (const retryAfterMs of asked) {
            const wait = nextWait(terms, { attempts, leftMs: wholeMs - at, retryAfterMs, previousMs }, random);
            if (wait === undefined) break;
            expect(wait).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
            expect(at + wait).toBeGreaterThanOrEqual(at);
            at += wait;
            expect(at).toBeLessThan(wholeMs);
            attempts += 1;
            previousMs = wait;
          }
          expect(attempts).toBeLessThanOrEqual(terms.attemptsMax);
        },
      ),
    );
  });
});
