import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Settings } from '../../settings.ts';

const DAY_SECONDS = 86_400;

/**
 * How long results are kept; empty when they are kept for good.
 * @throws ToolLayerError E3801 for less than the lifetime of idempotency keys: a duplicate is answered with the first
 *   call's result
 */
export function keptResultsOf(settings: Settings): { readonly keepResultsMs?: number } {
  const seconds = settings['calls.result_retention_days'] * DAY_SECONDS;
  if (seconds === 0) return {};
  const keys = settings['idempotency.ttl_seconds'];
  if (seconds >= keys) return { keepResultsMs: seconds * 1000 };
  throw new ToolLayerError(
    'E3801',
    `calls.result_retention_days keeps results for ${seconds} s, and idempotency.ttl_seconds answers duplicates with them for ${keys} s. Keep results at least as long.`,
  );
}
