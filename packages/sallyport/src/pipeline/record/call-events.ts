// Hot path: five events a call.

import type { Threat } from '@sallyport/guards';
import { entryOf, errorBody } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { quoted } from '@sallyport/std/json/json-text';
import { randomUuid } from '@sallyport/std/text/random-uuid';
import { rememberLast } from '@sallyport/std/text/remember-last';
import type { EventType } from '../../../api/schemas/cloud-event.ts';
import type { LifecycleState } from '../../../api/schemas/invocation.ts';
import type { WrittenDraft } from '../../domain/event/event-draft.ts';
import { type PayloadText, payloadTextOf } from '../../domain/event/payload-text.ts';
import { capabilitiesOf, type Grant } from '../../domain/invocation/grant.ts';
import { TRANSITIONS } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Flight, Transition } from '../flight/flight.ts';
import { gateText, hooksText, policyText } from './decision-texts.ts';
import { type EffectSaid, effectSaid } from './effect-said.ts';

/**
 * The events of the transitions from place `from` on (AUD-01, PIPE-01): each with time, capabilities and the hash of the
 * input; the last one also with the hash of the output, the duration and, where there is one, the error. What was decided
 * stands in AUTHORIZED or DENIED, what hooks said in the event behind them (PRM-08, PRM-09, PIPE-14). Arguments and
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
    if (isEnd && flight.facts !== undefined) drafts.push(...factsOf(flight.facts, record));
    const effect = effectSaid(record, transitions, i);
    if (effect !== undefined) {
      const told = effectOf(members, effect, record);
      drafts.push({ id: randomUuid(), type: effect.type, time: at, tenantId, subject: invocationId, written: told });
    }
    const said = decisionsOf(flight, state);
    const written = isEnd ? endOf(members, said, record, state) : stepOf(members, said, record, state);
    drafts.push({ id: randomUuid(), type: typeOf(state, record), time: at, tenantId, subject: invocationId, written });
  }
  return drafts;
}

/** Rare enough that nothing is gained by writing them as text. */
function factsOf(facts: NonNullable<Flight['facts']>, record: InvocationRecord): WrittenDraft[] {
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
    id: randomUuid(),
    type,
    time: Math.round(at),
    tenantId,
    subject: invocationId,
    written: payloadTextOf({ ...shared, ...data }),
  }));
}

/** What all events of a call say, as members of canonical JSON: where the members of one event come between, it is cut. */
interface SharedMembers {
  /** Up to where the end tells duration, error and usage. */
  readonly first: string;
  /** Up to where the end tells the hashes of the output. */
  readonly second: string;
  /** Up to the policy's decision; empty or with a comma behind it. */
  readonly phase: string;
  /** Up to the state; empty or with a comma behind it. */
  readonly third: string;
  /** All of them. */
  readonly all: string;
  /** What an event begins with up to the policy's decision, where nothing comes between. */
  readonly start: string;
  /** What an event ends with behind the state. */
  readonly end: string;
}

function sharedMembers({ call, trace }: Flight, record: InvocationRecord, answeredBy?: string): SharedMembers {
  const { inputHash, sessionId, userDid, trust } = record;
  const first =
    `"agent_did":${quotedAgent(record.agentDid)}${optional('answered_by', answeredBy)}` +
    `${findingsText(call.argumentFindings)}${optional('called_as', record.calledAs)},"capabilities":${capabilitiesText(call.grant)}` +
    `${optional('claim_source', record.claimSource)},"door":${quotedDoor(record.door)}`;
  const second = `${inputHash === undefined ? '' : `"input_hash":"${inputHash}",`}"invocation_id":${quoted(record.invocationId)}`;
  const phase = record.phase === undefined ? '' : `"phase":"${record.phase}",`;
  const third = sessionId === undefined ? '' : `"session_id":${quoted(sessionId)},`;
  const last =
    `"tenant_id":${quotedTenant(record.tenantId)},"tool_id":${quotedTool(record.toolId)}` +
    `${versionText(record.toolVersion)}${optional('trace_id', trace?.traceId)}` +
    `${trust === undefined ? '' : `,"trust":"${trust}"`}${optional('turn_group_id', record.turnGroupId)}` +
    optional('user_did', userDid);
  // Joined, each is one piece, and not many that every event puts together again.
  const start = ['{', first, ',', second, ',', phase].join('');
  const end = [',', last, '}'].join('');
  return { first, second, phase, third, all: `${first},${second},${phase}${third}${last}`, start, end };
}

const findingsText = (findings: readonly Threat[] = []): string =>
  findings.length === 0 ? '' : `,"argument_findings":${JSON.stringify(findings)}`;

const optional = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `,"${name}":${quoted(value)}`;

// What recurs from call to call.
const quotedAgent = rememberLast(quoted);
const quotedDoor = rememberLast(quoted);
const quotedTenant = rememberLast(quoted);
const quotedTool = rememberLast(quoted);
const versionText = rememberLast((version: string | undefined) => optional('tool_version', version));

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

/** What one event says of the decisions on its call, each as members with a comma behind them. */
interface DecisionTexts {
  readonly gate: string;
  readonly hooks: string;
  readonly policy: string;
}

const NOTHING_DECIDED: DecisionTexts = { gate: '', hooks: '', policy: '' };

/**
 * The end of a call that was refused says what was decided, and AUTHORIZED what let it through: after a hook rewrote the
 * arguments these are not the same.
 */
function decisionsOf(flight: Flight, state: LifecycleState): DecisionTexts {
  const { policyDecision, gateDecision, hookVerdicts, transitions } = flight;
  if (state === 'AUTHORIZED') {
    const permitted = policyDecision?.allowed === true || policyDecision?.ask === true;
    return {
      gate: gateText(gateDecision?.allowed === true ? gateDecision : undefined),
      hooks: '',
      policy: policyText(permitted ? policyDecision : undefined),
    };
  }
  if (state === 'DECLARED' || state === 'VALIDATED') return NOTHING_DECIDED;
  const said = hookVerdicts === undefined ? '' : hooksText(verdictsFor(state, hookVerdicts, transitions));
  if (state === 'DENIED') return { gate: gateText(gateDecision), hooks: said, policy: policyText(policyDecision) };
  return said === '' ? NOTHING_DECIDED : { ...NOTHING_DECIDED, hooks: said };
}

/** EXECUTING tells of the hooks before it, the end of those after it. */
function verdictsFor(
  state: LifecycleState,
  verdicts: NonNullable<Flight['hookVerdicts']>,
  transitions: Flight['transitions'],
): NonNullable<Flight['hookVerdicts']> {
  if (state === 'EXECUTING') return verdicts.filter(({ at }) => at === 'before');
  const ran = transitions.some((each) => each.state === 'EXECUTING');
  return ran ? verdicts.filter(({ at }) => at === 'after') : verdicts;
}

/** The same texts over and over: what may not be told in them is looked for once. */
const STATE_TEXTS = Object.fromEntries(
  Object.keys(TRANSITIONS).map((state) => [state, `"state":"${state}"`]),
) as Readonly<Record<LifecycleState, string>>;
const authorizedText = rememberLast((policy: string) => `${policy}${STATE_TEXTS.AUTHORIZED}`);

function stepOf(members: SharedMembers, said: DecisionTexts, record: InvocationRecord, state: LifecycleState) {
  const { first, second, phase, third, all, start, end } = members;
  const { gate, hooks, policy } = said;
  const own = STATE_TEXTS[state];
  // Most calls have neither a gate nor hooks.
  if (gate === '' && hooks === '') {
    const told = policy === '' ? own : state === 'AUTHORIZED' ? authorizedText(policy) : `${policy}${own}`;
    return payloadText(record, `${start}${policy}${third}${own}${end}`, all, told);
  }
  return payloadText(
    record,
    `{${gate}${first},${hooks}${second},${phase}${policy}${third}${own}${end}`,
    all,
    `${gate}${hooks}${policy}${own}`,
  );
}

function effectOf({ start, third, end, all }: SharedMembers, { text }: EffectSaid, record: InvocationRecord) {
  return payloadText(record, `${start}${third}${text}${end}`, all, text);
}

function endOf(members: SharedMembers, said: DecisionTexts, record: InvocationRecord, state: LifecycleState) {
  const { first, second, phase, third, all, end } = members;
  const { gate, hooks, policy } = said;
  const { failure, metadata, outputHash, outputKeptHash } = record;
  const error = failure === undefined ? '' : `"error":${canonicalJson(withoutDetails(failure))},`;
  const early = `"duration_ms":${numberText(metadata?.duration_ms)},${error}"execution_metadata":${usageText(record)},${hooks}`;
  const kept = outputKeptHash === undefined ? '' : `"output_kept_hash":"${outputKeptHash}",`;
  const hash = outputHash === undefined ? '' : `"output_hash":"${outputHash}",${kept}`;
  const own = STATE_TEXTS[state];
  return payloadText(
    record,
    `{${gate}${first},${early}${second},${hash}${phase}${policy}${third}${own}${end}`,
    all,
    `${gate}${early}${hash}${policy}${own}`,
  );
}

function payloadText(record: InvocationRecord, text: string, shared: string, own: string): PayloadText {
  const { invocationId, toolId, agentDid } = record;
  return { text, shared, own, invocationId, toolId, agentDid };
}

/** What 000 §4.3.2 puts into the event of the end, in ascending order. */
const usageText = ({ metadata }: InvocationRecord): string =>
  `{"attempts":${numberText(metadata?.attempts)}` +
  `,"cpu_used_millicore_seconds":${numberText(metadata?.cpu_used_millicore_seconds)}` +
  `,"duration_ms":${numberText(metadata?.duration_ms)},"memory_peak_mb":${numberText(metadata?.memory_peak_mb)}` +
  `,"network_bytes_received":${numberText(metadata?.network_bytes_received)}` +
  `,"network_bytes_sent":${numberText(metadata?.network_bytes_sent)}` +
  `${metadata?.slot_wait_ms === undefined ? '' : `,"slot_wait_ms":${numberText(metadata.slot_wait_ms)}`}}`;

/** As JSON.stringify writes it. */
const numberText = (value = 0): string => (Number.isFinite(value) ? `${value}` : 'null');

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
