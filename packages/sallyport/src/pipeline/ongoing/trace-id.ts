import { randomBytes } from 'node:crypto';

/** `traceparent` of W3C Trace Context, version 00. */
const TRACEPARENT = /^[0-9a-f]{2}-(?<traceId>(?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}/;

/** Id of the trace of a caller; of a new one when the caller's header cannot be parsed. */
export const traceIdOf = (traceparent: string): string =>
  TRACEPARENT.exec(traceparent)?.groups?.['traceId'] ?? randomBytes(16).toString('hex');
