import { randomBytes } from 'node:crypto';

/** W3C trace context of a call. */
export interface Trace {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** `traceparent` of W3C Trace Context, version 00. */
const TRACEPARENT = /^[0-9a-f]{2}-(?<traceId>(?!0{32})[0-9a-f]{32})-(?<spanId>(?!0{16})[0-9a-f]{16})-[0-9a-f]{2}/;

/** The place of a call in the trace of its caller; a new trace when the caller's header cannot be parsed. */
export function traceAfter(traceparent: string): Trace {
  const given = TRACEPARENT.exec(traceparent)?.groups;
  const spanId = randomBytes(8).toString('hex');
  if (given?.['traceId'] === undefined || given['spanId'] === undefined) {
    return { traceId: randomBytes(16).toString('hex'), spanId };
  }
  return { traceId: given['traceId'], spanId, parentSpanId: given['spanId'] };
}
