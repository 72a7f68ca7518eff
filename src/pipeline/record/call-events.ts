// Hot path: five events a call.
import { randomUUID } from 'node:crypto';
import type { EventType } from '../../../api/schemas/cloud-event.ts';
import type { LifecycleState } from '../../../api/schemas/invocation.ts';
import { entryOf, errorBody } from '../../domain/error/failure.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import { capabilitiesOf } from '../../domain/invocation/grant.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Flight, Transition } from '../flight/flight.ts';

const NO_CAPABILITIES: readonly string[] = [];

/**
 * The events of the transitions from place `from` on (AUD-01, PIPE-01): each with time, capabilities and the hash of the
 * input; the last one also with the hash of the output, the duration and, where there is one, the error. Arguments and
 * results themselves stay out: nothing here can hold a secret.
 * @param answeredBy id of the earlier call whose answer this one got
 */
export function eventsOf(flight: Flight, record: InvocationRecord, from: number, answeredBy?: string): EventDraft[] {
  const { call, trace, transitions } = flight;
  const capabilities = call.grant === undefined ? NO_CAPABILITIES : capabilitiesOf(call.grant);
  const drafts: EventDraft[] = [];
  for (let i = from; i < transitions.length; i += 1) {
    const { state, at } = transitions[i] as Transition;
    const isEnd = i === transitions.length - 1 && state !== 'EXECUTING';
    drafts.push({
      id: randomUUID(),
      type: typeOf(state, record),
      time: at,
      tenantId: record.tenantId,
      subject: record.invocationId,
      data: dataOf(record, state, capabilities, isEnd, answeredBy, trace?.traceId),
    });
  }
  return drafts;
}

/** Members in ascending order, so that the canonical text of the event needs no sorting. */
function dataOf(
  record: InvocationRecord,
  state: LifecycleState,
  capabilities: readonly string[],
  isEnd: boolean,
  answeredBy: string | undefined,
  traceId: string | undefined,
): Record<string, unknown> {
  const data: Record<string, unknown> = { agent_did: record.agentDid };
  if (answeredBy !== undefined) data['answered_by'] = answeredBy;
  data['capabilities'] = capabilities;
  data['door'] = record.door;
  if (isEnd) data['duration_ms'] = record.metadata?.duration_ms ?? 0;
  if (isEnd && record.failure !== undefined) data['error'] = withoutDetails(record.failure);
  if (isEnd) data['execution_metadata'] = usageOf(record);
  if (record.inputHash !== undefined) data['input_hash'] = record.inputHash;
  data['invocation_id'] = record.invocationId;
  if (isEnd && record.outputHash !== undefined) data['output_hash'] = record.outputHash;
  if (record.sessionId !== undefined) data['session_id'] = record.sessionId;
  data['state'] = state;
  data['tenant_id'] = record.tenantId;
  data['tool_id'] = record.toolId;
  if (record.toolVersion !== undefined) data['tool_version'] = record.toolVersion;
  if (traceId !== undefined) data['trace_id'] = traceId;
  if (record.userDid !== undefined) data['user_did'] = record.userDid;
  return data;
}

/** What 000 §4.3.2 puts into the event of the end, in ascending order. */
function usageOf({ metadata }: InvocationRecord): Record<string, unknown> {
  return {
    attempts: metadata?.attempts ?? 0,
    cpu_used_millicore_seconds: metadata?.cpu_used_millicore_seconds ?? 0,
    duration_ms: metadata?.duration_ms ?? 0,
    memory_peak_mb: metadata?.memory_peak_mb ?? 0,
    network_bytes_received: metadata?.network_bytes_received ?? 0,
    network_bytes_sent: metadata?.network_bytes_sent ?? 0,
  };
}

/** Details may quote the caller's or the tool's data, which has no place in the audit. */
function withoutDetails(failed: NonNullable<InvocationRecord['failure']>): Record<string, unknown> {
  const { code, e_code, category, retryable } = errorBody(failed);
  return { category, code, e_code, means: entryOf(failed.code).means, retryable };
}

function typeOf(state: LifecycleState, { failure }: InvocationRecord): EventType {
  switch (state) {
    case 'EXECUTING':
      return 'ai.agent.tool.invoked';
    case 'COMPLETED':
      return 'ai.agent.tool.succeeded';
    case 'FAILED':
    case 'DENIED':
      return 'ai.agent.tool.failed';
    case 'ABORTED':
      return failure !== undefined && entryOf(failure.code).wire === 'timeout'
        ? 'ai.agent.tool.timeout'
        : 'ai.agent.tool.failed';
    case 'ROLLED_BACK':
      return 'ai.agent.tool.rolled_back';
    default:
      return 'ai.agent.tool.state_changed';
  }
}
