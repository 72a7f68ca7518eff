import type { Setting } from './setting.ts';

/** How failed attempts are tried again (PIPE-05). */
export const RETRY_SETTINGS = [
  {
    key: 'retry.jitter',
    variable: 'SALLYPORT_RETRY_JITTER',
    type: 'string',
    oneOf: ['none', 'full', 'equal', 'decorrelated'],
    default: 'full',
    sentence: 'How waits between attempts are spread, so that callers do not come back all at once.',
  },
  {
    key: 'retry.attempts_max',
    variable: 'SALLYPORT_RETRY_ATTEMPTS_MAX',
    type: 'integer',
    minimum: 1,
    default: 20,
    sentence: 'Attempts that one call makes at most, whatever its tool says.',
  },
  {
    key: 'retry.budget_seconds',
    variable: 'SALLYPORT_RETRY_BUDGET_SECONDS',
    type: 'number',
    unit: 'seconds',
    minimum: 0,
    default: 30,
    sentence: 'Time that all attempts of a call after the first may take, waits included.',
  },
] as const satisfies readonly Setting[];
