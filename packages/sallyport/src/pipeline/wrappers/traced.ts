import { entryOf, type Failure } from '@sallyport/std/error/failure';
import type { EndedCall } from '../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Wrapper } from './wrapper.ts';

/** Logs what failed for the operator, with the place in the caller's trace, and with cause and stack, which no door shows. */
export function traced({ log }: Pick<PipelineParts, 'log'>): Wrapper {
  return (next) => async (ongoing, enter) => {
    const end = await next(ongoing, enter);
    if (end.failure !== undefined) logFailure(log, end.failure, end.record, ongoing.traceId);
    return end;
  };
}

function logFailure(
  log: PipelineParts['log'],
  failure: Failure,
  record: EndedCall['record'],
  traceId: string | undefined,
): void {
  const fields = {
    e_code: failure.code,
    invocation_id: record?.invocationId,
    tool_id: record?.toolId,
    ...(traceId === undefined ? {} : { trace_id: traceId }),
  };
  const isFault = entryOf(failure.code).wire === 'internal_error' && failure.code !== 'E3901';
  const cause = failure.cause === undefined ? {} : { cause: failure.cause };
  if (isFault) log.error('call-failed', { ...fields, ...cause });
  // An exception that nobody expected; what a tool says of a failure that it expects is data, and stays out of the log.
  else if (failure.code === 'E3109' && failure.cause instanceof Error) log.warn('tool-threw', { ...fields, ...cause });
  else log.debug('call-failed', fields);
}
