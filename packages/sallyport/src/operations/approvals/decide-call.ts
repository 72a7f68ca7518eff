import { isFailure } from '@sallyport/std/error/failure';
import {
  ApprovalAnswerRequest,
  ApprovalApproveRequest,
  ApprovalDecision,
  ApprovalDenyRequest,
} from '../../../api/schemas/calls/approvals.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { approverOf } from './approver-of.ts';
import { decisionOf } from './wire.ts';

/** Approves a call. The call resumes after the answer. */
export const approveCall = operation({
  name: 'approvals.approve',
  summary: 'Approve a call, as it is or with other arguments; it goes on when enough people did (ORC-03)',
  method: 'POST',
  path: '/v1/approvals/{approval_id}/approval',
  status: 200,
  access: 'approver',
  input: ApprovalApproveRequest,
  output: ApprovalDecision,
  run:
    ({ approvals }: Pick<OperationParts, 'approvals'>) =>
    async ({ approval_id, binding_digest, reason, parameters, remember }, asker) => {
      const decided = await approvals.approve({
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
    },
});

/** Denies a call. The call has ended when this answers. */
export const denyCall = operation({
  name: 'approvals.deny',
  summary: 'Say no to a call; it ends and never runs',
  method: 'POST',
  path: '/v1/approvals/{approval_id}/denial',
  status: 200,
  access: 'approver',
  input: ApprovalDenyRequest,
  output: ApprovalDecision,
  run:
    ({ approvals }: Pick<OperationParts, 'approvals'>) =>
    async ({ approval_id, binding_digest, reason }, asker) => {
      const approver = approverOf(asker);
      const decided = await approvals.deny({
        ...said(binding_digest, reason),
        approvalId: approval_id,
        approver,
      });
      return isFailure(decided) ? decided : decisionOf(decided);
    },
});

/** Approves or denies, once, for the address that a notice was sent to: the token is the credential. */
export const answerApproval = operation({
  name: 'approvals.answer',
  summary: 'Answer once with the token of a notice, without a credential',
  method: 'POST',
  path: '/v1/approval-answers',
  status: 200,
  access: 'open',
  input: ApprovalAnswerRequest,
  output: ApprovalDecision,
  run:
    ({ approvals }: Pick<OperationParts, 'approvals'>) =>
    async ({ answer_token: token, decision, binding_digest, reason }) => {
      const decided = await approvals.answer({ ...said(binding_digest, reason), token, decision });
      return isFailure(decided) ? decided : decisionOf(decided);
    },
});

const said = (digest: string | undefined, reason: string | undefined) => ({
  ...(digest === undefined ? {} : { digest }),
  ...(reason === undefined ? {} : { reason }),
});
