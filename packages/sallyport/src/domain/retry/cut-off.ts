import type { ErrorCode } from '@sallyport/std/error/catalogue';
import type { Failure } from '@sallyport/std/error/failure';

/** They are raised before anything of the tool runs. */
const NEVER_STARTED: ReadonlySet<ErrorCode> = new Set(['E3101', 'E3110']);

/** The tool may have begun, and nobody heard its end. */
const WITHOUT_END: ReadonlySet<ErrorCode> = new Set([
  'E3103',
  'E3107',
  'E3306',
  'E3308',
  'E3310',
  'E3805',
  'E3811',
  'E3900',
]);

/** Answers of somebody between the layer and the service, who lost it or did not wait for it (RFC 9110 §15.6). */
const LOST_BEHIND: ReadonlySet<unknown> = new Set([502, 504]);

/**
 * Whether the request surely never reached the tool. Executors say so in `details.reached` or `details.request_sent`; who
 * says nothing may have reached it.
 */
export function surelyNotReached({ code, details }: Pick<Failure, 'code' | 'details'>): boolean {
  if (NEVER_STARTED.has(code)) return true;
  return details?.['reached'] === false || details?.['request_sent'] === false;
}

/**
 * Whether a running call was cut off after it may have reached the tool, so that nobody knows what the tool did (PIPE-13).
 * An error that the tool or its service itself reported is an end, and not cut off.
 */
export function isCutOff(failed: Pick<Failure, 'code' | 'details'>): boolean {
  const { code, details } = failed;
  if (surelyNotReached(failed)) return false;
  const status = details?.['status'];
  if (typeof status === 'number') return LOST_BEHIND.has(status);
  return WITHOUT_END.has(code);
}
