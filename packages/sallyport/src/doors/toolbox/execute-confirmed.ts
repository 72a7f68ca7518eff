import { failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { ToolStatusResponse } from '../../../api/schemas/invocation.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { errorResult, resultOf } from './tool-result.ts';
import type { ConfirmationRequest, Confirming, ToolResult } from './toolbox-types.ts';

/** Longest wait of one request for news, in seconds: the operation's limit. */
const WATCH_SECONDS_MAX = 30;

/**
 * Approves a waiting call, then waits for its end (VIS-06). The layer decides whether the approval counts: who may
 * approve, and whether the call is unchanged.
 */
export async function executeConfirmed(
  { layer, caller }: { readonly layer: ToolLayer; readonly caller: Caller },
  confirmation: ConfirmationRequest,
  { approver, reason }: Confirming,
  timeoutMs: number,
): Promise<ToolResult> {
  const { toolName, approvalId } = confirmation;
  try {
    const approval = { approval_id: approvalId, ...(reason === undefined ? {} : { reason }) };
    const decided = await layer.ask('approvals.approve', approval, { ...caller, ...approver });
    if (decided.state === 'denied') {
      return errorResult(toolName, failure('E3807', 'Somebody denied the call before this approval came.'));
    }
    // More approvals are needed: there is nothing to wait for yet.
    const waitMs = decided.state === 'pending' ? 0 : timeoutMs;
    return resultOf(confirmation, await endOf(layer, caller, confirmation, waitMs));
  } catch (thrown) {
    return errorResult(toolName, failureOf(thrown));
  }
}

/** The call once it is over or waits for more approvals; at the timeout, as it stands. */
async function endOf(
  layer: ToolLayer,
  caller: Caller,
  { invocationId, approvalId }: ConfirmationRequest,
  timeoutMs: number,
): Promise<ToolStatusResponse> {
  const until = performance.now() + timeoutMs;
  let after: string | undefined;
  for (;;) {
    const leftMs = Math.max(0, until - performance.now());
    const watched = await layer.ask(
      'invocations.watch',
      {
        invocation_id: invocationId,
        wait_seconds: Math.min(WATCH_SECONDS_MAX, leftMs / 1000),
        ...(after === undefined ? {} : { after }),
      },
      caller,
    );
    const { invocation, over, event_id } = watched;
    // An edit by the approver, or a change of the policies, causes a new question.
    const asksAnew = invocation.approval !== undefined && invocation.approval.approval_id !== approvalId;
    if (over || asksAnew || leftMs === 0) return invocation;
    after = event_id;
  }
}
