import { entryOf, type Failure } from '@sallyport/std/error/failure';
import type { InvocationStatus, LifecycleState } from '../../../api/schemas/invocation.ts';
import type { WaitFor } from './waiting-call.ts';

/**
 * Allowed transitions between states (PIPE-01, 001 §3). AUTHORIZED → COMPLETED is an answer from an earlier call
 * (PIPE-09); a state without followers is final.
 */
export const TRANSITIONS: Readonly<Record<LifecycleState, readonly LifecycleState[]>> = {
  DECLARED: ['VALIDATED', 'FAILED', 'DENIED', 'ABORTED'],
  VALIDATED: ['AUTHORIZED', 'FAILED', 'DENIED', 'ABORTED'],
  AUTHORIZED: ['EXECUTING', 'COMPLETED', 'FAILED', 'DENIED', 'ABORTED'],
  EXECUTING: ['COMPLETED', 'FAILED', 'ABORTED', 'ROLLED_BACK'],
  COMPLETED: [],
  FAILED: [],
  DENIED: [],
  ABORTED: ['ROLLED_BACK'],
  ROLLED_BACK: [],
};

/** True when `to` may follow `from`. */
export function isLegalTransition(from: LifecycleState, to: LifecycleState): boolean {
  return TRANSITIONS[from].includes(to);
}

/** True when the invocation is over. ABORTED counts: its rollback, if any, follows at once. */
export function isFinal(state: LifecycleState): boolean {
  return state === 'ABORTED' || TRANSITIONS[state].length === 0;
}

/** The final state of an invocation with this failure. */
export function stateAfterFailure(failed: Failure): LifecycleState {
  const { failure, wire } = entryOf(failed.code);
  if (wire === 'timeout' || wire === 'cancelled' || wire === 'outcome_unknown') return 'ABORTED';
  if (failure === 'AuthorizationError' && wire !== 'external_api_error') return 'DENIED';
  return 'FAILED';
}

/**
 * BC-2's status: a view of state and failure (decision 3 of the requirements).
 * @param waitsFor what the call waits for, if it waits
 */
export function statusOf(state: LifecycleState, failed?: Failure, waitsFor?: WaitFor['for']): InvocationStatus {
  if (waitsFor === 'approval') return 'pending_approval';
  switch (state) {
    case 'DECLARED':
    case 'VALIDATED':
    case 'AUTHORIZED':
      return 'pending';
    case 'EXECUTING':
      return 'running';
    case 'COMPLETED':
      return 'success';
    default:
      return failed === undefined ? 'error' : statusOfFailure(failed);
  }
}

/** Ends of calls with an unknown outcome; their error says that it is unknown (PIPE-13). */
const CUT_OFF: Readonly<Record<string, InvocationStatus>> = { E3103: 'timeout', E3805: 'cancelled' };

function statusOfFailure(failed: Failure): InvocationStatus {
  const { wire } = entryOf(failed.code);
  if (wire === 'outcome_unknown') return CUT_OFF[String(failed.details?.['cut_off_by'])] ?? 'error';
  if (wire === 'timeout' || wire === 'cancelled' || wire === 'pending_approval') return wire;
  // Nobody denied it: the time ran out (ORC-05).
  if (wire === 'approval_expired') return 'timeout';
  if (stateAfterFailure(failed) === 'DENIED') return 'permission_denied';
  return 'error';
}
