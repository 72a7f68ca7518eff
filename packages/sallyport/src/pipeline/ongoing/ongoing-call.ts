import { randomUUID } from 'node:crypto';
import type { Failure } from '@sallyport/std/error/failure';
import type { LifecycleState } from '../../../api/schemas/invocation.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { GivenApproval, WaitFor, WaitingCall } from '../../domain/invocation/waiting-call.ts';
import { type CallFact, type CallRequest, type CallSoFar, newCall } from '../call.ts';
import { ToolRun } from './tool-run.ts';
import { traceIdOf } from './trace-id.ts';
import { UndoLog } from './undo-log.ts';
import type { WorkerHold } from './worker-hold.ts';

/** One change of state, as it is audited (PIPE-01). */
export interface Transition {
  readonly state: LifecycleState;
  /** Epoch ms. */
  readonly at: number;
}

/** A call that waited and resumes now. */
export interface Resumed {
  readonly invocationId: string;
  /** Nonce of the call's first pass. */
  readonly nonce: string;
  /** Time at which the call was accepted, epoch ms. */
  readonly acceptedAt: number;
  readonly waiting: WaitingCall;
  /** The call ran before and was cut off; it may be repeated. */
  readonly cutOff?: true;
  /** The approval that the call waited for; absent when it waited only for a worker. */
  readonly approval?: GivenApproval;
  /** What the worker holds of the call: the agent's slot and the lease. */
  readonly hold?: WorkerHold;
}

/**
 * Runs one call to its end, or until it has to wait, and resolves to its record. Never rejects: a fault of the layer is
 * a failed call.
 * @param resumed a call that waited: it goes through every stage again, but takes nothing a second time
 */
export type RunCall = (request: CallRequest, resumed?: Resumed) => Promise<InvocationRecord>;

/**
 * A call under way. What it is given at its beginning stays; what changes while it runs has one writer each: the runner
 * adds to `call` what a stage returns, `audited` adds to `transitions`, `undo` and `toolRun` keep their own state.
 */
export interface OngoingCall {
  /** What is established so far. */
  readonly call: CallSoFar;
  /**
   * Made by the layer, one for each call: claims and rows belong to the call with their nonce (adr/0013). It serves as
   * the id of the call until an id that the caller chose is established.
   */
  readonly nonce: string;
  /** Aborted with a ToolLayerError as reason: E3103 for time, E3805 for a cancel. */
  readonly controller: AbortController;
  readonly undo: UndoLog;
  readonly toolRun: ToolRun;
  /** The states of the call so far; the last one is the present state. */
  readonly transitions: Transition[];
  /** Monotonic ms at the start. */
  readonly startedAt: number;
  /** Absent when the caller sent no trace. */
  readonly traceId: string | undefined;
  /** Present when the call was accepted before and waited: what it took then is not taken again. */
  readonly resumed: Resumed | undefined;
  /** A dry run: nothing of the call will run, and nothing is taken (PIPE-15). */
  readonly rehearsal: boolean;
}

/** Adds what a stage returned to a call. Only the runner and `audited` call it. */
export function establish(call: CallSoFar, established: Partial<CallSoFar>): void {
  Object.assign(call, established);
}

/**
 * True when a row may exist under the id of the call. Until then a failed call leaves the id that its caller chose
 * free, and is recorded under the nonce.
 */
export const mayHaveRow = ({ resumed, transitions }: OngoingCall): boolean =>
  resumed !== undefined || transitions.some(({ state }) => state === 'EXECUTING');

/** How a call ended, before it is on record. */
export interface EndedCall {
  readonly state: LifecycleState;
  readonly failure?: Failure;
  /** Name of the refusing stage. */
  readonly stage?: string;
  /** An earlier record that also answers this call. */
  readonly answered?: InvocationRecord;
  /** Audited before the end, besides the facts that the stages and the run of the tool noted. */
  readonly facts?: readonly CallFact[];
  /** Set when the call is not over but waits on record. */
  readonly waits?: WaitFor;
  /** The record of the call; present once `audited` has written it. */
  readonly record?: InvocationRecord;
}

/** A call that has just come in. */
export function newOngoingCall(
  request: CallRequest,
  startedAt: number,
  rehearsal: boolean,
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
    traceId: traceparent === undefined ? undefined : traceIdOf(traceparent),
    resumed,
    rehearsal,
  };
}

function callOf(request: CallRequest, resumed: Resumed | undefined): CallSoFar {
  const compensates = request.compensates ?? resumed?.waiting.compensates;
  return newCall(compensates === request.compensates ? request : { ...request, compensates });
}

/** A call waits only after it is authorised. These states are on record already. */
const statesBeforeWaiting = ({ acceptedAt, waiting, cutOff }: Resumed): Transition[] => [
  { state: 'DECLARED', at: acceptedAt },
  { state: 'VALIDATED', at: acceptedAt },
  { state: 'AUTHORIZED', at: waiting.since },
  ...(cutOff === true ? [{ state: 'EXECUTING', at: waiting.since } as const] : []),
];
