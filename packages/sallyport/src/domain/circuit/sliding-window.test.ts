import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CIRCUIT_DEFAULTS } from './circuit-terms.ts';
import { slidingWindow } from './sliding-window.ts';

/** Calls: how each one ended, and how long after the previous call. */
const CALLS = fc.array(fc.record({ failed: fc.boolean(), slow: fc.boolean(), afterMs: fc.nat(3_000) }), {
  maxLength: 600,
});

const countsOf = (calls: readonly { readonly failed: boolean; readonly slow: boolean }[]) => ({
  calls: calls.length,
  failures: calls.filter(({ failed }) => failed).length,
  slowCalls: calls.filter(({ slow }) => slow).length,
});

test('CIR-01.3 a window by count holds the last calls, whatever its size', () => {
  fc.assert(
    fc.property(CALLS, fc.integer({ min: 1, max: 300 }), (calls, windowSize) => {
      const window = slidingWindow({ ...CIRCUIT_DEFAULTS, windowSize });
      for (const [at, { failed, slow }] of calls.entries()) {
        window.add(failed, slow, 0);
        if (at % 50 === 0 || at === calls.length - 1)
          expect(window.counts).toEqual(countsOf(calls.slice(0, at + 1).slice(-windowSize)));
      }
    }),
    { numRuns: 60 },
  );
});

test('CIR-01.3 a window by time holds the calls of the last seconds', () => {
  fc.assert(
    fc.property(CALLS, fc.integer({ min: 1, max: 60 }), (calls, windowSize) => {
      const window = slidingWindow({ ...CIRCUIT_DEFAULTS, windowType: 'time_based', windowSize });
      let nowMs = 5_000;
      const seen: { failed: boolean; slow: boolean; second: number }[] = [];
      for (const { failed, slow, afterMs } of calls) {
        nowMs += afterMs;
        const second = Math.floor(nowMs / 1000);
        window.add(failed, slow, nowMs);
        seen.push({ failed, slow, second });
        expect(window.counts).toEqual(countsOf(seen.filter((call) => call.second > second - windowSize)));
      }
      window.expire(nowMs + windowSize * 1000);
      expect(window.counts.calls).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test('CIR-01 a window by time stands a clock that goes back, a little or a lot', () => {
  const window = slidingWindow({ ...CIRCUIT_DEFAULTS, windowType: 'time_based', windowSize: 10 });
  window.add(true, false, 100_000);
  window.add(true, false, 95_000);
  expect(window.counts).toEqual({ calls: 2, failures: 2, slowCalls: 0 });
  window.add(false, false, 20_000);
  expect(window.counts).toEqual({ calls: 1, failures: 0, slowCalls: 0 });
  window.expire(31_000);
  expect(window.counts.calls).toBe(0);
});
