import { describe, expect, test } from 'vitest';
import { circuitConfigFaults, circuitTermsOf } from './circuit-config.ts';
import { CIRCUIT_DEFAULTS } from './circuit-terms.ts';
import { countsAs } from './counts.ts';

describe('a configuration', () => {
  test('CIR-01 that says nothing is the defaults', () => {
    expect(circuitConfigFaults({})).toEqual([]);
    expect(circuitTermsOf({}, CIRCUIT_DEFAULTS)).toEqual(CIRCUIT_DEFAULTS);
  });

  test('CIR-01 says what it says, and leaves the rest', () => {
    const config = {
      failure_rate_threshold: 0,
      slow_call_rate_threshold: 80,
      consecutive_failures_threshold: 4,
      slow_call_duration_threshold_ms: 10,
      sliding_window_type: 'time_based',
      sliding_window_size: 30,
      wait_duration_seconds: 5,
      permitted_number_of_calls_in_half_open_state: 3,
      half_open_strategy: 'all_or_nothing',
    } as const;
    expect(circuitConfigFaults(config)).toEqual([]);
    expect(circuitTermsOf(config, CIRCUIT_DEFAULTS)).toEqual({
      failureRateThreshold: 0,
      slowCallRateThreshold: 80,
      failuresInRow: 4,
      slowCallMs: 10,
      windowType: 'time_based',
      windowSize: 30,
      callsMin: 10,
      waitMs: 5000,
      trialCalls: 3,
      halfOpenStrategy: 'all_or_nothing',
    });
  });

  test.each([
    [{ failure_rate_threshold: 101 }, 'failure_rate_threshold', /from 0 to 100/],
    [{ failure_rate_threshold: Number.NaN }, 'failure_rate_threshold', /from 0 to 100/],
    [{ slow_call_rate_threshold: -1 }, 'slow_call_rate_threshold', /from 0 to 100/],
    [{ slow_call_duration_threshold_ms: 0 }, 'slow_call_duration_threshold_ms', /from 1/],
    [{ sliding_window_size: 0 }, 'sliding_window_size', /from 1 to 10000/],
    [{ sliding_window_size: 10_001 }, 'sliding_window_size', /from 1 to 10000/],
    [{ minimum_number_of_calls: 0 }, 'minimum_number_of_calls', /from 1/],
    [{ wait_duration_seconds: -1 }, 'wait_duration_seconds', /from 0 to 86400/],
    [{ permitted_number_of_calls_in_half_open_state: 0 }, 'permitted_number_of_calls_in_half_open_state', /from 1/],
    [{ sliding_window_size: 5, minimum_number_of_calls: 6 }, 'minimum_number_of_calls', /sliding_window_size/],
    [{ wait_duration_seconds: 1, wait_duration_in_open_state_seconds: 2 }, 'wait_duration_seconds', /name one/],
  ])('CIR-01 with a fault names the key and what to change: %j', (config, key, message) => {
    expect(circuitConfigFaults(config)).toEqual([{ key, message: expect.stringMatching(message) }]);
  });

  test('from before there were bounds counts as the bounds, and a minimum as the window', () => {
    const terms = circuitTermsOf({ sliding_window_size: 1e9, wait_duration_seconds: 1e9 }, CIRCUIT_DEFAULTS);
    expect(terms).toMatchObject({ windowSize: 10_000, waitMs: 86_400_000 });
    expect(circuitTermsOf({ sliding_window_size: 3 }, CIRCUIT_DEFAULTS).callsMin).toBe(3);
  });
});

describe('an attempt that failed', () => {
  test.each([
    ['failure', ['E3107', 'E3304', 'E3306', 'E3308', 'E3310', 'E3103']],
    ['answered', ['E3108', 'E3109', 'E3307', 'E3309']],
    ['nothing', ['E3101', 'E3102', 'E3104', 'E3302', 'E3303', 'E3401', 'E3509', 'E3803', 'E3805', 'E3811', 'E3900']],
  ] as const)('CIR-01 counts as %s: %j', (end, codes) => {
    for (const code of codes) expect([code, countsAs(code, 5000, 5000)]).toEqual([code, end]);
  });

  test('CIR-01 for want of the time that its caller gave says nothing of the service', () => {
    expect(countsAs('E3103', 100, 5000)).toBe('nothing');
    expect(countsAs('E3306', 100, 5000)).toBe('failure');
  });
});
