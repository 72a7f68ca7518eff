import { isFailure } from '@sallyport/std/error/failure';
import type { ApprovalOffice } from '../../orchestration/approval-desk.ts';
import type { Run } from '../catalogue/run.ts';
import { approverOf } from './approver-of.ts';
import { decisionOf } from './wire.ts';

/** Says yes. The call goes on behind the answer. */
export function approveCall(desk: () => ApprovalOffice): Run<'approvals.approve'> {
  return async ({ approval_id, binding_digest, reason, parameters, remember }, asker) => {
    const decided = await desk().approve({
      ...said(binding_digest, reason),
      approvalId: approval_id,
      approver: approverOf(asker),
      ...(parameters === undefined ? {} : { parameters }),
      ...(remember === undefined
        ? {}
        : {
            remember: {
              scope: remember.scope,
              forMs: remember.for_seconds * 1000,
              ...(remember.agent_only === undefined ? {} : { agentOnly: remember.agent_only }),
              ...(remember.any_policy_version === undefined ? {} : { anyPolicyVersion: remember.any_policy_version }),
            },
          }),
    });
    return isFailure(decided) ? decided : decisionOf(decided);
  };
}

/** Says no. The call has ended when it answers. */
export function denyCall(desk: () => ApprovalOffice): Run<'approvals.deny'> {
  return async ({ approval_id, binding_digest, reason }, asker) => {
    const approver = approverOf(asker);
    const decided = await desk().deny({ ...said(binding_digest, reason), approvalId: approval_id, approver });
    return isFailure(decided) ? decided : decisionOf(decided);
  };
}

/** Says either, once, for the address that a notice was sent to: the token is the credential. */
export function answerApproval(desk: () => ApprovalOffice): Run<'approvals.answer'> {
  return async ({ answer_token: token, decision, binding_digest, reason }) => {
    const decided = await desk().answer({ ...said(binding_digest, reason), token, decision });
    return isFailure(decided) ? decided : decisionOf(decided);
  };
}

const said = (digest: string | undefined, reason: string | undefined) => ({
  ...(digest === undefined ? {} : { digest }),
  ...(reason === undefined ? {} : { reason }),
});
