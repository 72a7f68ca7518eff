import type { ErrorCode } from '@sallyport/std/error/catalogue';
import type { Failure } from '@sallyport/std/error/failure';

/** Raised before anything of the tool runs. */
const NEVER_STARTED: ReadonlySet<ErrorCode> = new Set(['E3101', 'E3110']);

/** The tool may have begun, and its end is unknown. */
const WITHOUT_END: ReadonlySet<ErrorCode> = new Set([
  'E3103',
  'E3107',
  'E3306',
  'E3308',
  'E3310',
  'E3805',
  'E3811',
  'E3812',
  'E3900',
]);

/** Statuses of a gateway that lost the service's answer or did not wait for it (RFC 9110 §15.6). */
const LOST_BY_GATEWAY: ReadonlySet<unknown> = new Set([502, 504]);

/**
 * True when the request surely never reached the tool. Executors say so in `details.reached` or `details.request_sent`;
 * without these it may have reached the tool.
 */
export function surelyNotReached({ code, details }: Pick<Failure, 'code' | 'details'>): boolean {
  if (NEVER_STARTED.has(code)) return true;
  return details?.['reached'] === false || details?.['request_sent'] === false;
}

/**
 * True when a running call was cut off after it may have reached the tool, so that the tool's effect is unknown
 * (PIPE-13). An error that the tool or its service itself reported is an end, and not a cut-off.
 */
export function isCutOff(failed: Pick<Failure, 'code' | 'details'>): boolean {
  const { code, details } = failed;
  if (surelyNotReached(failed)) return false;
  const status = details?.['status'];
  if (typeof status === 'number') return LOST_BY_GATEWAY.has(status);
  return WITHOUT_END.has(code);
}
