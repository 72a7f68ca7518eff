import type { CircuitBreakerConfig } from '../../../api/schemas/tool-manifest.ts';
import { integer, number, oneOf, seconds } from '../settings/rows.ts';
import { defaultsOf, type Setting, type ValuesOf } from '../settings/setting.ts';

/**
 * Settings that decide when a circuit opens, how long it stays open, and how it closes again (CIR-01, CIR-03), with the
 * defaults of 000 §3.3.5. Their keys are those of a manifest's configuration, and their ranges are checked as there, so
 * that E3403 names the key.
 */
export const CIRCUIT_SETTINGS = {
  failureRateThreshold: number('circuits.failure_rate_threshold', {
    unit: 'percent',
    default: 50,
    sentence: 'A circuit opens when so many of the calls in its window failed; 0 to 100.',
  }),
  slowCallRateThreshold: number('circuits.slow_call_rate_threshold', {
    unit: 'percent',
    default: 100,
    sentence: 'A circuit opens when so many of them were slow; 0 to 100.',
  }),
  slowCallMs: integer('circuits.slow_call_duration_threshold_ms', {
    unit: 'ms',
    default: 5000,
    sentence:
      'A call that takes longer is slow. Raise it where services take longer by nature; 86400000 turns this off.',
  }),
  failuresInRow: integer('circuits.consecutive_failures_threshold', {
    unit: 'calls',
    default: 0,
    sentence:
      'A circuit opens after so many failures in a row, however few calls its window holds; 0 to 10000, 0 for never.',
  }),
  windowType: oneOf('circuits.sliding_window_type', ['count_based', 'time_based'], {
    default: 'count_based',
    sentence: 'Whether the window holds the last calls or those of the last seconds.',
  }),
  windowSize: integer('circuits.sliding_window_size', {
    unit: 'calls or seconds',
    default: 100,
    sentence: 'Size of the window; 1 to 10000.',
  }),
  callsMin: integer('circuits.minimum_number_of_calls', {
    unit: 'calls',
    default: 10,
    sentence: 'With fewer calls in the window a circuit does not open.',
  }),
  waitMs: seconds('circuits.wait_duration_in_open_state_seconds', {
    maximum: 86_400,
    default: 60,
    sentence: 'How long a circuit stays open before trial calls are let through; 0 to 86400.',
  }),
  trialCalls: integer('circuits.permitted_number_of_calls_in_half_open_state', {
    unit: 'calls',
    default: 10,
    sentence: 'Trial calls before a circuit closes again; 1 to 1000.',
  }),
  halfOpenStrategy: oneOf('circuits.half_open_strategy', ['canary', 'all_or_nothing'], {
    default: 'canary',
    sentence:
      'How trial calls are let through: as a share of 1, 10, 50 and 100 percent, or as many as there are at once.',
  }),
} satisfies Record<string, Setting<`circuits.${keyof CircuitBreakerConfig}`>>;

/**
 * When a circuit opens, how long it stays open, and how it closes again. A window covers a number of calls or of
 * seconds; a half-open circuit admits a growing share of the calls, or its full number of trials at once.
 */
export type CircuitTerms = ValuesOf<typeof CIRCUIT_SETTINGS>;

/** The defaults of 000 §3.3.5. */
export const CIRCUIT_DEFAULTS: CircuitTerms = defaultsOf(CIRCUIT_SETTINGS);

/** True when two terms are equal. */
export function isSameTerms(one: CircuitTerms, other: CircuitTerms): boolean {
  return one === other || (Object.keys(one) as (keyof CircuitTerms)[]).every((name) => one[name] === other[name]);
}
