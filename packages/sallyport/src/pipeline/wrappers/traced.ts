import { randomBytes } from 'node:crypto';
import { entryOf } from '@sallyport/std/error/failure';
import type { EndedCall, Trace } from '../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Wrapper } from './wrapper.ts';

/** `traceparent` of W3C Trace Context, version 00. */
const TRACEPARENT = /^[0-9a-f]{2}-(?<traceId>(?!0{32})[0-9a-f]{32})-(?<spanId>(?!0{16})[0-9a-f]{16})-[0-9a-f]{2}/;

/** Gives the call its place in the caller's trace, and tells the operator of faults with the cause that no door shows. */
export function traced({ log }: Pick<PipelineParts, 'log'>): Wrapper {
  return {
    name: 'traced',
    wrap: (next) => async (ongoing) => {
      const { traceparent } = ongoing.call.caller;
      if (traceparent !== undefined) ongoing.trace = continued(traceparent);
      const end = await next(ongoing);
      if (end.failure !== undefined) logFailure(log, end, ongoing.trace);
      return end;
    },
  };
}

function continued(traceparent: string): Trace {
  const given = TRACEPARENT.exec(traceparent)?.groups;
  const spanId = randomBytes(8).toString('hex');
  if (given?.['traceId'] === undefined || given['spanId'] === undefined) {
    return { traceId: randomBytes(16).toString('hex'), spanId };
  }
  return { traceId: given['traceId'], spanId, parentSpanId: given['spanId'] };
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
