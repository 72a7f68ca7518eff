import { randomUUID } from 'node:crypto';
import type { ExecutionMetadata } from '../../../api/schemas/invocation.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import { sideEffectOf } from '../../domain/tool/tool-version.ts';
import type { Flight, FlightEnd } from '../flight/flight.ts';
import type { PipelineParts } from '../parts.ts';

/** Tenant of calls that never showed who they are. No token can name it. */
export const UNKNOWN_TENANT = '-';

/** The row of a call as far as it came. */
export function recordOf(
  parts: Pick<PipelineParts, 'clock' | 'instanceId'>,
  flight: Flight,
  end: FlightEnd,
): InvocationRecord {
  const { call, warnings } = flight;
  const { tool, principal, request } = call;
  return {
    invocationId: call.invocationId ?? request.invocation_id ?? randomUUID(),
    tenantId: principal?.tenantId ?? UNKNOWN_TENANT,
    agentDid: principal?.agentDid ?? UNKNOWN_TENANT,
    toolId: request.tool_id,
    door: call.caller.door,
    state: end.state,
    instanceId: parts.instanceId,
    warnings,
    acceptedAt: flight.transitions[0]?.at ?? parts.clock.now(),
    metadata: metadataOf(parts, flight, end),
    ...(principal?.userDid === undefined ? {} : { userDid: principal.userDid }),
    ...(principal?.sessionId === undefined ? {} : { sessionId: principal.sessionId }),
    ...(tool === undefined
      ? {}
      : { toolVersion: tool.manifest.version, contentHash: tool.contentHash, sideEffect: sideEffectOf(tool.manifest) }),
    ...(call.inputHash === undefined ? {} : { inputHash: call.inputHash }),
    ...(call.outputHash === undefined ? {} : { outputHash: call.outputHash }),
    ...(end.failure === undefined ? resultOf(flight) : { failure: withoutCause(end.failure) }),
  };
}

const resultOf = ({ call }: Flight): Pick<InvocationRecord, 'result'> =>
  'result' in call ? { result: call.result } : {};

function withoutCause({
  cause: _cause,
  ...told
}: NonNullable<FlightEnd['failure']>): NonNullable<InvocationRecord['failure']> {
  return told;
}

function metadataOf({ clock }: Pick<PipelineParts, 'clock'>, flight: Flight, { state }: FlightEnd): ExecutionMetadata {
  const usage = flight.call.outcome?.usage ?? NO_USAGE;
  const started = flight.transitions[0]?.at ?? clock.now();
  return {
    duration_ms: Math.round((clock.monotonic() - flight.startedAt) * 1000) / 1000,
    started_at: new Date(started).toISOString(),
    ...(state === 'EXECUTING'
      ? {}
      : { completed_at: new Date(flight.transitions.at(-1)?.at ?? started).toISOString() }),
    cpu_used_millicore_seconds: usage.cpuMillicoreSeconds,
    memory_peak_mb: usage.memoryPeakMb,
    network_bytes_sent: usage.networkBytesSent,
    network_bytes_received: usage.networkBytesReceived,
    documents_accessed: [],
    checkpoints_created: [],
    attempts: flight.attempts,
    cached: false,
  };
}

/** What a duplicate is answered with: the earlier call's record, said to be a repetition (PIPE-09). */
export function repeated(duplicate: InvocationRecord, earlier: InvocationRecord): InvocationRecord {
  const metadata = earlier.metadata ?? duplicate.metadata;
  return metadata === undefined ? earlier : { ...earlier, metadata: { ...metadata, cached: true } };
}
