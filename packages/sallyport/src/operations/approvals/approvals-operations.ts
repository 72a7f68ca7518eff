import { failure, isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ApprovalOffice } from '../../orchestration/approval-desk.ts';
import type { APPROVALS } from '../catalogue/approvals.ts';
import type { OperationsOf } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { approverOf } from './approver-of.ts';
import { answerApproval, approveCall, denyCall } from './decide-call.ts';
import { listApprovals, showApproval } from './show-approvals.ts';
import { delegationOf, ruleOf } from './wire.ts';

/** What people do at the approval desk (ORC-03, ORC-05). Without a desk every one of them is refused with E3901. */
export function approvalsOperations({
  approvalDesk,
}: Pick<OperationParts, 'approvalDesk'>): OperationsOf<typeof APPROVALS> {
  const desk = (): ApprovalOffice => {
    if (approvalDesk !== undefined) return approvalDesk;
    throw new ToolLayerError('E3901', 'This layer has no approval desk: calls that need a person are refused.');
  };
  return {
    'approvals.list': listApprovals(desk),
    'approvals.show': showApproval(desk),
    'approvals.approve': approveCall(desk),
    'approvals.deny': denyCall(desk),
    'approvals.answer': answerApproval(desk),
    'approvals.rules': (_input, { principal }) => ({ rules: desk().rules(principal.tenantId).map(ruleOf) }),
    async 'approvals.revoke-rule'({ rule_id: id, reason }, asker) {
      const revoked = await desk().revokeRule(approverOf(asker), id, reason);
      return revoked === undefined
        ? failure('E3809', `The tenant has no standing rule ${id}. See "approvals rules".`)
        : ruleOf(revoked);
    },
    async 'approvals.delegate'({ to, for_seconds: seconds, reason }, asker) {
      const because = reason === undefined ? {} : { reason };
      const made = await desk().delegate({ approver: approverOf(asker), to, forMs: seconds * 1000, ...because });
      return isFailure(made) ? made : delegationOf(made);
    },
    async 'approvals.delegations'(_input, { principal }) {
      return { delegations: (await desk().delegations(principal.tenantId)).map(delegationOf) };
    },
    async 'approvals.end-delegation'({ delegation_id: id }, asker) {
      const ended = await desk().endDelegation(approverOf(asker), id);
      return isFailure(ended) ? ended : delegationOf(ended);
    },
  };
}
