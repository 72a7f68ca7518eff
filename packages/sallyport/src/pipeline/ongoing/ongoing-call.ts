import { randomUUID } from 'node:crypto';
import type { Failure } from '@sallyport/std/error/failure';
import type { LifecycleState } from '../../../api/schemas/invocation.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { GivenApproval, WaitFor, WaitingCall } from '../../domain/invocation/waiting-call.ts';
import { type CallFact, type CallRequest, type CallSoFar, newCall } from '../call.ts';
import type { CallHold } from './call-hold.ts';
import { ToolRun } from './tool-run.ts';
import { type Trace, traceAfter } from './trace.ts';
import { UndoLog } from './undo-log.ts';

/** One change of state, as it is audited (PIPE-01). */
export interface Transition {
  readonly state: LifecycleState;
  /** Epoch ms. */
  readonly at: number;
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
 * Runs one call to its end, or to where it waits, and answers with what is on record of it. Never rejects: a fault of the
 * layer is a failed call.
 * @param resumed a call that waited: it goes through every stage again, and what it took before is not taken again
 */
export type RunCall = (request: CallRequest, resumed?: Resumed) => Promise<InvocationRecord>;

/**
 * A call under way. What it is given at its beginning stays; what changes while it runs has one writer each: the runner adds
 * to `call` what a stage returns, `audited` adds to `transitions`, `undo` and `toolRun` keep their own state.
 */
export interface OngoingCall {
  /** What is established so far. */
  readonly call: CallSoFar;
  /**
   * Made by the layer, one for each call: claims and rows belong to the call with their nonce (adr/0013). It is the id of a
   * call as long as none that its caller chose is established.
   */
  readonly nonce: string;
  /** Aborted with a ToolLayerError as reason: E3103 for time, E3805 for a cancel. */
  readonly controller: AbortController;
  readonly undo: UndoLog;
  readonly toolRun: ToolRun;
  /** The states that it has been in, the present one last. */
  readonly transitions: Transition[];
  /** Monotonic ms at the start. */
  readonly startedAt: number;
  /** Absent when its caller named none. */
  readonly trace: Trace | undefined;
  /** Present when it was accepted before and waited: what was taken then is not taken again. */
  readonly resumed: Resumed | undefined;
  /** Nothing of the call will run, and nothing of it is taken (PIPE-15). */
  readonly rehearsal: boolean;
}

/** Adds what a stage returned to a call: for the runner and `audited` alone. */
export function establish(call: CallSoFar, established: Partial<CallSoFar>): void {
  Object.assign(call, established);
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
  /** Audited before the end, beside those that the stages and the run of the tool noted. */
  readonly facts?: readonly CallFact[];
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
  const { traceparent } = request.caller;
  return {
    call: callOf(request, resumed),
    nonce: resumed?.nonce ?? randomUUID(),
    controller: new AbortController(),
    undo: new UndoLog(),
    toolRun: new ToolRun(),
    transitions: resumed === undefined ? [] : statesBeforeWaiting(resumed),
    startedAt,
    trace: traceparent === undefined ? undefined : traceAfter(traceparent),
    resumed,
    rehearsal,
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
