import { integer, oneOf, seconds } from '../../../domain/settings/rows.ts';
import type { ValuesOf } from '../../../domain/settings/setting.ts';

/**
 * Rules by which the layer retries, besides the manifest's `execution_config.retry_policy` (PIPE-05). Full jitter as
 * 000 §3.4.3 recommends, the 30 s of 002, and no limit on attempts below that of the manifest's contract.
 */
export const RETRY_SETTINGS = {
  jitter: oneOf('retry.jitter', ['none', 'full', 'equal', 'decorrelated'], {
    default: 'full',
    sentence: 'How waits between attempts are spread, so that callers do not come back all at once.',
  }),
  attemptsMax: integer('retry.attempts_max', {
    minimum: 1,
    default: 20,
    sentence: 'Attempts that one call makes at most, whatever its tool says.',
  }),
  budgetMs: seconds('retry.budget_seconds', {
    minimum: 0,
    default: 30,
    sentence: 'Time that all attempts of a call after the first may take, waits included.',
  }),
};

/** Rules by which the layer retries failed attempts. */
export interface RetryRules extends ValuesOf<typeof RETRY_SETTINGS> {
  /** At least 0 and below 1; default `Math.random`. */
  readonly random?: () => number;
}
