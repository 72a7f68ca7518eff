import { randomUUID } from 'node:crypto';
import type { Failure } from '@sallyport/std/error/failure';
import type { TrustLevel } from '../../../api/schemas/capability-token.ts';
import type { EventType } from '../../../api/schemas/cloud-event.ts';
import type { LifecycleState, Warning } from '../../../api/schemas/invocation.ts';
import type { CircuitPermit } from '../../domain/circuit/circuit.ts';
import type { GateDecision } from '../../domain/invocation/gate-decision.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Usage } from '../../domain/invocation/usage.ts';
import type { GivenApproval, WaitFor, WaitingCall } from '../../domain/invocation/waiting-call.ts';
import type { Progress } from '../../domain/principal/principal.ts';
import type { HookVerdict } from '../../hooks/hook.ts';
import type { MadeDecision } from '../../permission/policy-decisions.ts';
import { type CallRequest, type CallSoFar, newCall } from '../call.ts';
import type { AgentSlot } from './agent-slots.ts';
import type { CallHold } from './call-hold.ts';
import type { Deadline } from './deadline.ts';
import type { FailedAttempt } from './failed-attempt.ts';
import { UndoLog } from './undo-log.ts';

/** One change of state, as it is audited (PIPE-01). */
export interface Transition {
  readonly state: LifecycleState;
  /** Epoch ms. */
  readonly at: number;
}

/** Something about a call that is audited and is no state. */
export interface CallFact {
  readonly type: EventType;
  /** Epoch ms. */
  readonly at: number;
  /** Beside what every event of a call says. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** W3C trace context of a call. */
export interface Trace {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** A call that waited and goes on now. */
export interface Resumed {
  readonly invocationId: string;
  /** That of its first pass. */
  readonly nonce: string;
  /** Epoch ms of its acceptance. */
  readonly acceptedAt: number;
  readonly waiting: WaitingCall;
  /** It ran before and was cut off; it may be repeated. */
  readonly cutOff?: true;
  /** The yes that it waited for; absent when it waited for a worker only. */
  readonly approval?: GivenApproval;
  /** What its worker holds of it: the agent's slot and the lease. */
  readonly hold?: CallHold;
}

/**
 * A call under way: the one owner of what changes while it runs. Stages and wrappers read it; the runner adds to
 * `call` what a stage establishes (and `resolve` who asks, so that its own refusal is on that tenant's record), and only
 * `audited` adds to `transitions`.
 */
export interface OngoingCall {
  readonly call: CallSoFar;
  /**
   * Made by the layer, one for each call: claims and rows belong to the call with their nonce (adr/0013). It is the id of a
   * call as long as none that its caller chose is established.
   */
  readonly nonce: string;
  /** Aborted with a ToolLayerError as reason: E3103 for time, E3805 for a cancel. */
  readonly controller: AbortController;
  readonly undo: UndoLog;
  readonly warnings: Warning[];
  readonly transitions: Transition[];
  /** Monotonic ms at the start. */
  readonly startedAt: number;
  trace?: Trace;
  /** Present when it was accepted before and waited: what was taken then is not taken again. */
  readonly resumed: Resumed | undefined;
  /** Nothing of the call will run, and nothing of it is taken (PIPE-15). */
  readonly rehearsal: boolean;
  /** What was decided on the call, for the record: a refusal establishes nothing in `call`. */
  trust: TrustLevel | undefined;
  policyDecision: MadeDecision | undefined;
  gateDecision: GateDecision | undefined;
  /** In the order in which hooks were asked. */
  hookVerdicts: readonly HookVerdict[] | undefined;
  /**
   * Set where the call has claimed an id or a key. Asked once its row says that it runs: throws E3811 when a claim is not the
   * call's any more, because another call took it over or the database lost it, so that nothing of this one runs.
   */
  confirmClaims: (() => Promise<void>) | undefined;
  /** Of its agent, once it has one. */
  slot: AgentSlot | undefined;
  /** How long it waited for that, ms; 0 where it did not wait. */
  slotWaitMs: number;
  /** Attempts that reached the executor. */
  attempts: number;
  /** Those that failed, where there was more than one; undefined otherwise. */
  failedAttempts: FailedAttempt[] | undefined;
  /** What is audited beside the states, before the end of the call; undefined when there is nothing. */
  facts: CallFact[] | undefined;
  /** What the circuit gave for the attempt that comes next, or is under way; undefined where there is none (CIR-01). */
  permit: CircuitPermit | undefined;
  /** The last attempt was a trial of its circuit, and failed. */
  trialFailed: boolean;
  /** While the tool runs. */
  deadline: Deadline | undefined;
  /** What the tool said last of how far it is. */
  progress: Progress | undefined;
  /** What the last attempt used, also one that failed; undefined while none was measured. */
  usage: Usage | undefined;
  /** Moves the call to its next state. A promise when a durable write has to come first (system design §4). */
  enter(state: LifecycleState): Promise<void> | undefined;
}

/**
 * Whether a row may stand under the id of the call. Until then a failure leaves the id that the caller chose free, and is on
 * record under the nonce.
 */
export const mayHaveRow = ({ resumed, transitions }: OngoingCall): boolean =>
  resumed !== undefined || transitions.some(({ state }) => state === 'EXECUTING');

/** How a call ended, before it is on record. */
export interface EndedCall {
  readonly state: LifecycleState;
  readonly failure?: Failure;
  /** Name of the stage that refused. */
  readonly stage?: string;
  /** The earlier record that answers this call too. */
  readonly answered?: InvocationRecord;
  /** It is not over: it waits on record. */
  readonly waits?: WaitFor;
  /** What is on record of the call; there once `audited` has written it. */
  readonly record?: InvocationRecord;
}

/** A call that has just come in. */
export function newOngoingCall(
  request: CallRequest,
  startedAt: number,
  rehearsal = false,
  resumed?: Resumed,
): OngoingCall {
  return {
    call: callOf(request, resumed),
    nonce: resumed?.nonce ?? randomUUID(),
    controller: new AbortController(),
    undo: new UndoLog(),
    warnings: [],
    transitions: resumed === undefined ? [] : statesBeforeWaiting(resumed),
    startedAt,
    resumed,
    rehearsal,
    trust: undefined,
    policyDecision: undefined,
    gateDecision: undefined,
    hookVerdicts: undefined,
    confirmClaims: undefined,
    slot: undefined,
    slotWaitMs: 0,
    attempts: 0,
    failedAttempts: undefined,
    facts: undefined,
    permit: undefined,
    trialFailed: false,
    deadline: undefined,
    progress: undefined,
    usage: undefined,
    enter: () => undefined,
  };
}

function callOf(request: CallRequest, resumed: Resumed | undefined): CallSoFar {
  const compensates = request.compensates ?? resumed?.waiting.compensates;
  return newCall(compensates === request.compensates ? request : { ...request, compensates });
}

/** A call waits once it is authorised. These states are on record already. */
const statesBeforeWaiting = ({ acceptedAt, waiting, cutOff }: Resumed): Transition[] => [
  { state: 'DECLARED', at: acceptedAt },
  { state: 'VALIDATED', at: acceptedAt },
  { state: 'AUTHORIZED', at: waiting.since },
  ...(cutOff === true ? [{ state: 'EXECUTING', at: waiting.since } as const] : []),
];
