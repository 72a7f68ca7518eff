import type { Redactor } from '@sallyport/guards';
import type { ErrorCode } from '@sallyport/std/error/catalogue';
import type { Failure } from '@sallyport/std/error/failure';
import type { OngoingCall } from '../ongoing/ongoing-call.ts';

/** Codes whose text is the layer's alone: it says why an address or path of the caller or the tool is out of bounds. */
const OWN_WORDS: ReadonlySet<ErrorCode> = new Set(['E3104', 'E3105', 'E3203', 'E3204']);

/**
 * A failure as it may be shown once the tool was reached: its message and details may hold the tool's own words, which
 * are untrusted and may contain secrets or personal data (AUD-04). The record holds the same text, so every later
 * answer does too. Before the tool is reached the words are those of the layer and its operators.
 */
export function withoutSecrets(redactor: Redactor, { toolRun }: OngoingCall, failed: Failure): Failure {
  if (toolRun.attempts === 0 || OWN_WORDS.has(failed.code)) return failed;
  const { message, details } = failed;
  const given = details === undefined ? { message } : { message, details };
  const { value } = redactor.value(given);
  return value === given ? failed : { ...failed, ...(value as typeof given) };
}
