import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Backoff, backoffMs, JITTERS } from './backoff.ts';

const half = (): number => 0.5;
const of = (jitter: Backoff['jitter'], baseMs = 100, maxMs = 1000): Backoff => ({ jitter, baseMs, maxMs });

const anyBackoff = fc.record({
  jitter: fc.constantFrom(...JITTERS),
  baseMs: fc.integer({ min: 0, max: 3_600_000 }),
  maxMs: fc.integer({ min: 0, max: 3_600_000 }),
});
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const failures = fc.integer({ min: 1, max: 5000 });

describe('the wait before the next attempt', () => {
  test('PIPE-05.3 without jitter doubles from the base and stops at the longest wait', () => {
    expect([1, 2, 3, 4, 5, 2000].map((failed) => backoffMs(of('none'), failed, undefined, half))).toEqual([
      100, 200, 400, 800, 1000, 1000,
    ]);
  });

  test('PIPE-05.4 full jitter lies anywhere below that, equal jitter in its upper half', () => {
    expect([1, 2, 3].map((failed) => backoffMs(of('full'), failed, undefined, half))).toEqual([50, 100, 200]);
    expect([1, 2, 3].map((failed) => backoffMs(of('equal'), failed, undefined, half))).toEqual([75, 150, 300]);
  });

  test('PIPE-05.4 decorrelated jitter grows from the last wait', () => {
    expect(backoffMs(of('decorrelated'), 1, undefined, half)).toBe(200);
    expect(backoffMs(of('decorrelated'), 2, 200, half)).toBe(350);
    expect(backoffMs(of('decorrelated'), 3, 5000, () => 0.99)).toBe(1000);
  });

  test('PIPE-05 is never below 0, never above the longest, and a number, whatever chance says', () => {
    fc.assert(
      fc.property(
        anyBackoff,
        failures,
        chance,
        fc.option(fc.nat(10_000_000), { nil: undefined }),
        (backoff, failed, at, previous) => {
          const wait = backoffMs(backoff, failed, previous, () => at);
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(wait).toBeLessThanOrEqual(backoff.maxMs);
        },
      ),
    );
  });

  test('PIPE-05 full jitter is the wait without jitter times chance, equal jitter never less than half of it', () => {
    fc.assert(
      fc.property(anyBackoff, failures, chance, (backoff, failed, at) => {
        const whole = backoffMs({ ...backoff, jitter: 'none' }, failed, undefined, () => at);
        expect(backoffMs({ ...backoff, jitter: 'full' }, failed, undefined, () => at)).toBe(at * whole);
        expect(backoffMs({ ...backoff, jitter: 'equal' }, failed, undefined, () => at)).toBeGreaterThanOrEqual(
          whole / 2,
        );
      }),
    );
  });

  test('PIPE-05 decorrelated jitter is never below the base where that is below the longest', () => {
    fc.assert(
      fc.property(anyBackoff, chance, fc.nat(10_000_000), ({ baseMs, maxMs }, at, previous) => {
        const wait = backoffMs({ jitter: 'decorrelated', baseMs, maxMs }, 2, previous, () => at);
        expect(wait).toBeGreaterThanOrEqual(Math.min(baseMs, maxMs));
      }),
    );
  });
});
