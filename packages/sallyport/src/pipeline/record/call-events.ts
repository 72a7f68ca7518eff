// Hot path: five events a call.

import { randomUUID } from 'node:crypto';
import { entryOf, errorBody, type Failure } from '@sallyport/std/error/failure';
import type { EventType } from '../../../api/schemas/cloud-event.ts';
import type { LifecycleState } from '../../../api/schemas/invocation.ts';
import type { EventDraft, EventMembers } from '../../domain/event/event-draft.ts';
import { capabilitiesOf, type Grant } from '../../domain/invocation/grant.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { ProgramExit } from '../../executors/executor.port.ts';
import type { HookVerdict } from '../../hooks/hook.ts';
import type { CallFact } from '../call.ts';
import type { EndedCall, OngoingCall, Transition } from '../ongoing/ongoing-call.ts';
import { effectEventOf } from './effect-event.ts';
import { boundedDecision, inCanonicalOrder } from './recorded-decisions.ts';

/**
 * The events of the transitions from index `from` on (AUD-01, PIPE-01): each with time, capabilities and the hash of
 * the input; the last one also with the hash of the output, the duration and the error, if any. Decisions are in
 * AUTHORIZED or DENIED, verdicts of hooks in the event after them (PRM-08, PRM-09, PIPE-14). Arguments and results
 * themselves stay out, so no event can hold a secret.
 * @param end how the call ended; absent while it runs
 */
export function eventsOf(ongoing: OngoingCall, record: InvocationRecord, from: number, end?: EndedCall): EventDraft[] {
  const { transitions } = ongoing;
  const { tenantId, invocationId } = record;
  const shared = sharedMembers(ongoing, record, end?.answered?.invocationId);
  const drafts: EventDraft[] = [];
  const add = (type: EventType, time: number, own: OwnMembers): void => {
    const data = dataOf(shared, own);
    drafts.push({ id: randomUUID(), type, time, tenantId, subject: invocationId, data, parts: { shared, own } });
  };
  for (let i = from; i < transitions.length; i += 1) {
    const { state, at } = transitions[i] as Transition;
    const isEnd = i === transitions.length - 1 && state !== 'EXECUTING';
    if (isEnd) drafts.push(...factsOf(allFacts(ongoing, end), record));
    const effect = effectEventOf(record, transitions, i);
    if (effect !== undefined) add(effect.type, at, { side_effect: effect.sideEffect });
    const said = decisionsOf(ongoing, state);
    const own = isEnd ? endOf(said, record, state, programExit(ongoing, end)) : stepOf(said, state, ongoing);
    add(typeOf(state, record.failure), at, own);
  }
  return drafts;
}

const NO_DRAFTS: readonly EventDraft[] = [];

/** In the order in which they were noted. */
function allFacts({ call, toolRun }: OngoingCall, end: EndedCall | undefined): readonly CallFact[] {
  const { facts } = toolRun;
  if (facts === undefined && end?.facts === undefined) return call.facts;
  return [...(facts ?? []), ...call.facts, ...(end?.facts ?? [])];
}

/** Rare enough that the shared members need not be built only once. */
function factsOf(facts: readonly CallFact[], record: InvocationRecord): readonly EventDraft[] {
  if (facts.length === 0) return NO_DRAFTS;
  const { tenantId, invocationId, agentDid, toolId, toolVersion, inputHash } = record;
  const shared = {
    agent_did: agentDid,
    invocation_id: invocationId,
    tenant_id: tenantId,
    tool_id: toolId,
    ...(toolVersion === undefined ? {} : { tool_version: toolVersion }),
    ...(inputHash === undefined ? {} : { input_hash: inputHash }),
  };
  return facts.map(({ type, at, data }) => ({
    id: randomUUID(),
    type,
    time: Math.round(at),
    tenantId,
    subject: invocationId,
    data: { ...shared, ...data },
  }));
}

/** Members that all events of a call share. */
const sharedMembers = ({ call, traceId }: OngoingCall, record: InvocationRecord, answeredBy?: string) => ({
  agent_did: record.agentDid,
  answered_by: answeredBy,
  argument_findings: call.argumentFindings?.length === 0 ? undefined : call.argumentFindings,
  called_as: record.calledAs,
  caller_id: call.request.agent_context?.caller_id,
  capabilities: capabilitiesIn(call.grant),
  claim_source: record.claimSource,
  door: record.door,
  input_hash: record.inputHash,
  invocation_id: record.invocationId,
  phase: record.phase,
  plan: call.request.execution_options?.plan,
  session_id: record.sessionId,
  tenant_id: record.tenantId,
  tool_id: record.toolId,
  tool_version: record.toolVersion,
  trace_id: traceId,
  trust: record.trust,
  turn_group_id: record.turnGroupId,
  user_did: record.userDid,
});

const NO_CAPABILITIES: readonly string[] = [];
/** Cached by grant, since grants are cached too. */
const knownCapabilities = new WeakMap<Grant, readonly string[]>();

function capabilitiesIn(grant: Grant | undefined): readonly string[] {
  if (grant === undefined) return NO_CAPABILITIES;
  const known = knownCapabilities.get(grant);
  if (known !== undefined) return known;
  const capabilities = capabilitiesOf(grant);
  knownCapabilities.set(grant, capabilities);
  return capabilities;
}

/** Members of one event besides the shared ones, also in ascending order. */
interface OwnMembers extends EventMembers {
  readonly adversarial_policy_decision?: unknown;
  readonly approved_by?: string;
  readonly async_mode?: boolean;
  readonly duration_ms?: number;
  readonly error?: unknown;
  readonly execution_metadata?: unknown;
  readonly exit_code?: number | undefined;
  readonly hooks?: unknown;
  readonly output_hash?: string | undefined;
  readonly output_kept_hash?: string | undefined;
  readonly policy_decision?: unknown;
  readonly priority?: string;
  readonly side_effect?: unknown;
  readonly state?: LifecycleState;
  readonly truncated?: boolean | undefined;
}

/** In ascending order, as the hash requires: sorting would take five times as long. */
const dataOf = (shared: ReturnType<typeof sharedMembers>, own: OwnMembers): EventMembers => ({
  adversarial_policy_decision: own.adversarial_policy_decision,
  agent_did: shared.agent_did,
  answered_by: shared.answered_by,
  approved_by: own.approved_by,
  argument_findings: shared.argument_findings,
  async_mode: own.async_mode,
  called_as: shared.called_as,
  caller_id: shared.caller_id,
  capabilities: shared.capabilities,
  claim_source: shared.claim_source,
  door: shared.door,
  duration_ms: own.duration_ms,
  error: own.error,
  execution_metadata: own.execution_metadata,
  exit_code: own.exit_code,
  hooks: own.hooks,
  input_hash: shared.input_hash,
  invocation_id: shared.invocation_id,
  output_hash: own.output_hash,
  output_kept_hash: own.output_kept_hash,
  phase: shared.phase,
  plan: shared.plan,
  policy_decision: own.policy_decision,
  priority: own.priority,
  session_id: shared.session_id,
  side_effect: own.side_effect,
  state: own.state,
  tenant_id: shared.tenant_id,
  tool_id: shared.tool_id,
  tool_version: shared.tool_version,
  trace_id: shared.trace_id,
  truncated: own.truncated,
  trust: shared.trust,
  turn_group_id: shared.turn_group_id,
  user_did: shared.user_did,
});

const NOTHING_DECIDED: OwnMembers = {};

/**
 * The end of a refused call carries the decisions; AUTHORIZED carries those that let the call through. After a hook
 * rewrote the arguments the two differ.
 */
function decisionsOf(ongoing: OngoingCall, state: LifecycleState): OwnMembers {
  const { call, transitions } = ongoing;
  const { policyDecision, gateDecision, hookVerdicts } = call;
  if (state === 'AUTHORIZED') {
    const permitted = policyDecision?.allowed === true || policyDecision?.ask === true;
    return {
      // The name comes from 002.
      adversarial_policy_decision: gateDecision?.allowed === true ? inCanonicalOrder(gateDecision) : undefined,
      policy_decision: permitted ? boundedDecision(policyDecision) : undefined,
    };
  }
  if (state === 'DECLARED' || state === 'VALIDATED') return NOTHING_DECIDED;
  const verdicts = hookVerdicts === undefined ? [] : verdictsFor(state, hookVerdicts, transitions);
  const hooks = verdicts.length === 0 ? undefined : inCanonicalOrder(verdicts);
  if (state !== 'DENIED') return hooks === undefined ? NOTHING_DECIDED : { hooks };
  return {
    adversarial_policy_decision: inCanonicalOrder(gateDecision),
    hooks,
    policy_decision: policyDecision === undefined ? undefined : boundedDecision(policyDecision),
  };
}

/** EXECUTING carries the verdicts of the hooks before it, the end those of the hooks after it. */
function verdictsFor(
  state: LifecycleState,
  verdicts: readonly HookVerdict[],
  transitions: OngoingCall['transitions'],
): readonly HookVerdict[] {
  if (state === 'EXECUTING') return verdicts.filter(({ at }) => at === 'before');
  const ran = transitions.some((each) => each.state === 'EXECUTING');
  return ran ? verdicts.filter(({ at }) => at === 'after') : verdicts;
}

function stepOf(
  { adversarial_policy_decision, hooks, policy_decision }: OwnMembers,
  state: LifecycleState,
  { call: { request, approvedBy } }: OngoingCall,
): OwnMembers {
  if (state !== 'EXECUTING') return { adversarial_policy_decision, hooks, policy_decision, state };
  const options = request.execution_options;
  return {
    adversarial_policy_decision,
    // The word for nobody comes from 002.
    approved_by: approvedBy ?? 'auto',
    async_mode: options?.async_mode ?? false,
    hooks,
    policy_decision,
    priority: options?.priority ?? 'normal',
    state,
  };
}

/** How the program of the tool ended; undefined when the tool is no program, or none ran. */
function programExit({ call }: OngoingCall, end: EndedCall | undefined): ProgramExit | undefined {
  return call.ran?.exit ?? (end?.failure?.details?.['envelope'] as ProgramExit | undefined);
}

/** The event of the end also carries duration, error, usage, output and exit code (000 §4.3.2, 002). */
function endOf(
  said: OwnMembers,
  record: InvocationRecord,
  state: LifecycleState,
  exit: ProgramExit | undefined,
): OwnMembers {
  const { failure, metadata, outputHash, outputKeptHash } = record;
  const duration_ms = metadata?.duration_ms ?? 0;
  return {
    adversarial_policy_decision: said.adversarial_policy_decision,
    duration_ms,
    error: failure === undefined ? undefined : withoutDetails(failure),
    execution_metadata: {
      attempts: metadata?.attempts ?? 0,
      cpu_used_millicore_seconds: metadata?.cpu_used_millicore_seconds ?? 0,
      // Left out when there are none, as most calls have none.
      documents_accessed: metadata?.documents_accessed.length ? metadata.documents_accessed : undefined,
      duration_ms,
      memory_peak_mb: metadata?.memory_peak_mb ?? 0,
      network_bytes_received: metadata?.network_bytes_received ?? 0,
      network_bytes_sent: metadata?.network_bytes_sent ?? 0,
      slot_wait_ms: metadata?.slot_wait_ms,
    },
    exit_code: exit?.exit_code,
    hooks: said.hooks,
    output_hash: outputHash,
    output_kept_hash: outputHash === undefined ? undefined : outputKeptHash,
    policy_decision: said.policy_decision,
    state,
    truncated: exit?.truncated,
  };
}

/** Details may quote the caller's or the tool's data, which does not belong in the audit. */
function withoutDetails(failed: NonNullable<InvocationRecord['failure']>): Record<string, unknown> {
  const { code, e_code, category, retryable } = errorBody(failed);
  return { category, code, e_code, means: entryOf(failed.code).means, retryable };
}

function typeOf(state: LifecycleState, failed: Failure | undefined): EventType {
  switch (state) {
    case 'EXECUTING':
      return 'ai.agent.tool.invoked';
    case 'COMPLETED':
      return 'ai.agent.tool.succeeded';
    case 'FAILED':
    case 'DENIED':
      return 'ai.agent.tool.failed';
    case 'ABORTED':
      return endedByTimeout(failed) ? 'ai.agent.tool.timeout' : 'ai.agent.tool.failed';
    case 'ROLLED_BACK':
      return 'ai.agent.tool.rolled_back';
    default:
      return 'ai.agent.tool.state_changed';
  }
}

/** True for a call that ran out of time, also when what its tool did is unknown therefore. */
export function endedByTimeout(failed: Failure | undefined): boolean {
  if (failed === undefined) return false;
  return entryOf(failed.code).wire === 'timeout' || failed.details?.['cut_off_by'] === 'E3103';
}
