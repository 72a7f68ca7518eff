import { boolean, integer, number, oneOf } from '../../domain/settings/rows.ts';

/** How failed attempts are tried again (PIPE-05). */
export const RETRY_SETTINGS = [
  oneOf('retry.jitter', ['none', 'full', 'equal', 'decorrelated'], {
    default: 'full',
    sentence: 'How waits between attempts are spread, so that callers do not come back all at once.',
  }),
  integer('retry.attempts_max', {
    minimum: 1,
    default: 20,
    sentence: 'Attempts that one call makes at most, whatever its tool says.',
  }),
  number('retry.budget_seconds', {
    unit: 'seconds',
    minimum: 0,
    default: 30,
    sentence: 'Time that all attempts of a call after the first may take, waits included.',
  }),
];

/** When calls are kept away from a service that fails (CIR-01, CIR-03). Bounds are judged together, so that E3403 names the key. */
export const CIRCUIT_SETTINGS = [
  boolean('circuits.enabled', { default: true, sentence: 'Whether calls to services go through circuits.' }),
  number('circuits.failure_rate_threshold', {
    unit: 'percent',
    default: 50,
    sentence: 'A circuit opens when so many of the calls in its window failed; 0 to 100.',
  }),
  number('circuits.slow_call_rate_threshold', {
    unit: 'percent',
    default: 100,
    sentence: 'A circuit opens when so many of them were slow; 0 to 100.',
  }),
  integer('circuits.slow_call_duration_threshold_ms', {
    unit: 'ms',
    default: 5000,
    sentence:
      'A call that takes longer is slow. Raise it where services take longer by nature; 86400000 turns this off.',
  }),
  oneOf('circuits.sliding_window_type', ['count_based', 'time_based'], {
    default: 'count_based',
    sentence: 'Whether the window holds the last calls or those of the last seconds.',
  }),
  integer('circuits.sliding_window_size', {
    unit: 'calls or seconds',
    default: 100,
    sentence: 'Size of the window; 1 to 10000.',
  }),
  integer('circuits.minimum_number_of_calls', {
    unit: 'calls',
    default: 10,
    sentence: 'With fewer calls in the window a circuit does not open.',
  }),
  number('circuits.wait_duration_in_open_state_seconds', {
    unit: 'seconds',
    default: 60,
    sentence: 'How long a circuit stays open before trial calls are let through; 0 to 86400.',
  }),
  integer('circuits.permitted_number_of_calls_in_half_open_state', {
    unit: 'calls',
    default: 10,
    sentence: 'Trial calls before a circuit closes again; 1 to 1000.',
  }),
  oneOf('circuits.half_open_strategy', ['canary', 'all_or_nothing'], {
    default: 'canary',
    sentence:
      'How trial calls are let through: as a share of 1, 10, 50 and 100 percent, or as many as there are at once.',
  }),
  oneOf('circuits.unknown_state', ['open', 'closed'], {
    default: 'open',
    sentence: 'What a circuit counts as whose state is not known: open refuses with E3402.',
  }),
];
