import { entryOf } from '@sallyport/std/error/failure';
import type { EndedCall } from '../ongoing/ongoing-call.ts';
import type { Trace } from '../ongoing/trace.ts';
import type { PipelineParts } from '../parts.ts';
import type { Wrapper } from './wrapper.ts';

/** Logs what failed for the operator, with the place in the caller's trace and the cause that no door shows. */
export function traced({ log }: Pick<PipelineParts, 'log'>): Wrapper {
  return {
    name: 'traced',
    wrap: (next) => async (ongoing, enter) => {
      const end = await next(ongoing, enter);
      if (end.failure !== undefined) logFailure(log, end, ongoing.trace);
      return end;
    },
  };
}

function logFailure(log: PipelineParts['log'], { failure, record }: EndedCall, trace: Trace | undefined): void {
  if (failure === undefined) return;
  const fields = {
    e_code: failure.code,
    invocation_id: record?.invocationId,
    tool_id: record?.toolId,
    ...(trace === undefined ? {} : { trace_id: trace.traceId }),
  };
  // Only a fault of the layer itself may carry its cause into the log; a tool's own words are data.
  const isFault = entryOf(failure.code).wire === 'internal_error' && failure.code !== 'E3901';
  if (!isFault) log.debug('call-failed', fields);
  else
    log.error('call-failed', {
      ...fields,
      ...(failure.cause === undefined ? {} : { cause: causeOf(failure.cause) }),
    });
}

const causeOf = (cause: unknown): string | undefined => (cause instanceof Error ? cause.stack : String(cause));
