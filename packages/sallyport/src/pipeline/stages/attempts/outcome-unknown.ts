import { type Failure, failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { isCutOff } from '../../../domain/retry/cut-off.ts';
import { isSafeToRepeat } from '../../../domain/tool/tool-version.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';

const ADVICE = 'What the tool did is not known: find out before you call again. The layer does not repeat the call.';

/**
 * The end of a call that was cut off after it may have reached a tool that is not safe to repeat (PIPE-13). Undefined
 * when the end stays as it is.
 */
export function outcomeUnknown({ toolRun, call }: OngoingCall, failed: Failure): Failure | undefined {
  if (toolRun.attempts === 0 || call.tool === undefined || isSafeToRepeat(call.tool.manifest)) return undefined;
  if (!isCutOff(failed)) return undefined;
  return failure('E3804', `${failed.message} ${ADVICE}`, {
    details: { ...failed.details, cut_off_by: failed.code },
    ...(failed.cause === undefined ? {} : { cause: failed.cause }),
  });
}

/**
 * The failure of an attempt that was aborted: the abort's reason takes precedence over the executor's result, unless
 * that says that the changes could not all be undone.
 */
export function endOfAborted(thrown: unknown, signal: AbortSignal): Failure {
  const failed = failureOf(thrown);
  return failed.code === 'E3804' ? failed : failureOf(signal.reason);
}

/** The failure of a call whose changes could not all be undone. */
export function rollbackFailed(failed: Failure): Failure {
  return failure(
    'E3804',
    `${failed.message} Not all that the call changed could be taken back. Look at it before you call again; the operator finds the reason in the log.`,
    {
      details: { ...failed.details, rollback: 'failed', failed_with: failed.code },
      ...(failed.cause === undefined ? {} : { cause: failed.cause }),
    },
  );
}
