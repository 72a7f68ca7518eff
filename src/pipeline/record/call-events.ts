// Hot path: five events a call.
import { randomUUID } from 'node:crypto';
import type { EventType } from '../../../api/schemas/cloud-event.ts';
import type { LifecycleState } from '../../../api/schemas/invocation.ts';
import { entryOf, errorBody } from '../../domain/error/failure.ts';
import type { WrittenDraft } from '../../domain/event/event-draft.ts';
import type { PayloadText } from '../../domain/event/payload-text.ts';
import { capabilitiesOf, type Grant } from '../../domain/invocation/grant.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { canonicalJson } from '../../std/canonical-json.ts';
import { quoted } from '../../std/json-text.ts';
import type { Flight, Transition } from '../flight/flight.ts';

/**
 * The events of the transitions from place `from` on (AUD-01, PIPE-01): each with time, capabilities and the hash of the
 * input; the last one also with the hash of the output, the duration and, where there is one, the error. Arguments and
 * results themselves stay out: nothing here can hold a secret.
 * @param answeredBy id of the earlier call whose answer this one got
 */
export function eventsOf(flight: Flight, record: InvocationRecord, from: number, answeredBy?: string): WrittenDraft[] {
  const { transitions } = flight;
  const { tenantId, invocationId } = record;
  const members = sharedMembers(flight, record, answeredBy);
  const drafts: WrittenDraft[] = [];
  for (let i = from; i < transitions.length; i += 1) {
    const { state, at } = transitions[i] as Transition;
    const isEnd = i === transitions.length - 1 && state !== 'EXECUTING';
    const written = isEnd ? endOf(members, record, state) : stepOf(members, record, state);
    drafts.push({ id: randomUUID(), type: typeOf(state, record), time: at, tenantId, subject: invocationId, written });
  }
  return drafts;
}

/** What all events of a call say, as members of canonical JSON: where the members of one event come between, it is cut. */
interface SharedMembers {
  /** Up to where the end tells duration, error and usage. */
  readonly first: string;
  /** Up to where the end tells the hash of the output. */
  readonly second: string;
  /** Up to the state; empty or with a comma behind it. */
  readonly third: string;
  /** Behind the state. */
  readonly last: string;
  /** All of them. */
  readonly all: string;
}

function sharedMembers({ call, trace }: Flight, record: InvocationRecord, answeredBy?: string): SharedMembers {
  const { inputHash, sessionId, userDid } = record;
  const first =
    `"agent_did":${quoted(record.agentDid)}${optional('answered_by', answeredBy)}` +
    `${optional('called_as', record.calledAs)},"capabilities":${capabilitiesText(call.grant)},"door":${quoted(record.door)}`;
  const second = `${inputHash === undefined ? '' : `"input_hash":"${inputHash}",`}"invocation_id":${quoted(record.invocationId)}`;
  const third = sessionId === undefined ? '' : `"session_id":${quoted(sessionId)},`;
  const last =
    `"tenant_id":${quoted(record.tenantId)},"tool_id":${quoted(record.toolId)}` +
    `${optional('tool_version', record.toolVersion)}${optional('trace_id', trace?.traceId)}${optional('user_did', userDid)}`;
  return { first, second, third, last, all: `${first},${second},${third}${last}` };
}

const optional = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `,"${name}":${quoted(value)}`;

/** Grants are remembered, so their text is. */
const capabilityTexts = new WeakMap<Grant, string>();

function capabilitiesText(grant: Grant | undefined): string {
  if (grant === undefined) return '[]';
  const known = capabilityTexts.get(grant);
  if (known !== undefined) return known;
  const text = JSON.stringify(capabilitiesOf(grant));
  capabilityTexts.set(grant, text);
  return text;
}

function stepOf({ first, second, third, last, all }: SharedMembers, record: InvocationRecord, state: LifecycleState) {
  const own = `"state":"${state}"`;
  return payloadText(record, `{${first},${second},${third}${own},${last}}`, all, own);
}

function endOf({ first, second, third, last, all }: SharedMembers, record: InvocationRecord, state: LifecycleState) {
  const { failure, metadata, outputHash } = record;
  const error = failure === undefined ? '' : `"error":${canonicalJson(withoutDetails(failure))},`;
  const early = `"duration_ms":${JSON.stringify(metadata?.duration_ms ?? 0)},${error}"execution_metadata":${usageText(record)},`;
  const hash = outputHash === undefined ? '' : `"output_hash":"${outputHash}",`;
  const own = `"state":"${state}"`;
  return payloadText(
    record,
    `{${first},${early}${second},${hash}${third}${own},${last}}`,
    all,
    `${early}${hash}${own}`,
  );
}

function payloadText(record: InvocationRecord, text: string, shared: string, own: string): PayloadText {
  const { invocationId, toolId, agentDid } = record;
  return { text, shared, own, invocationId, toolId, agentDid };
}

/** What 000 §4.3.2 puts into the event of the end, in ascending order. */
const usageText = ({ metadata }: InvocationRecord): string =>
  JSON.stringify({
    attempts: metadata?.attempts ?? 0,
    cpu_used_millicore_seconds: metadata?.cpu_used_millicore_seconds ?? 0,
    duration_ms: metadata?.duration_ms ?? 0,
    memory_peak_mb: metadata?.memory_peak_mb ?? 0,
    network_bytes_received: metadata?.network_bytes_received ?? 0,
    network_bytes_sent: metadata?.network_bytes_sent ?? 0,
  });

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
