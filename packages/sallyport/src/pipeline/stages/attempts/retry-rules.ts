import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { integer, list, oneOf, seconds } from '../../../domain/settings/rows.ts';
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
    timed: true,
    minimum: 0,
    default: 30,
    sentence: 'Time that all attempts of a call after the first may take, waits included.',
  }),
  statusCodes: list('retry.retryable_status_codes', {
    default: ['429', '500', '502', '503', '504'],
    sentence:
      'Statuses with which the answer of a service is worth another attempt, where the manifest of the tool names none.',
  }),
};

/** Rules by which the layer retries failed attempts. */
export interface RetryRules extends Omit<ValuesOf<typeof RETRY_SETTINGS>, 'statusCodes'> {
  /** Statuses of 400 to 599. */
  readonly statusCodes: ReadonlySet<number>;
}

/**
 * The rules as the pipeline takes them.
 * @throws ToolLayerError E3801 for an entry that is no status of an error
 */
export function retryRulesOf(values: ValuesOf<typeof RETRY_SETTINGS>): RetryRules {
  const wrong = values.statusCodes.find((entry) => !/^[45]\d\d$/.test(entry));
  if (wrong === undefined) return { ...values, statusCodes: new Set(values.statusCodes.map(Number)) };
  const message = `retry.retryable_status_codes: ${JSON.stringify(wrong)} is no status of an error. Name statuses from 400 to 599.`;
  throw new ToolLayerError('E3801', message);
}
