import { failure } from '@sallyport/std/error/failure';
import {
  ApprovalRule,
  ApprovalRuleListRequest,
  ApprovalRuleListResponse,
  ApprovalRuleRevokeRequest,
} from '../../../api/schemas/calls/approvals.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { approverOf } from './approver-of.ts';
import { ruleOf } from './wire.ts';

/** The standing rules of the asker's tenant. */
export const listApprovalRules = operation({
  name: 'approvals.rules',
  summary: 'List the standing rules by which calls pass without a question',
  method: 'GET',
  path: '/v1/approval-rules',
  status: 200,
  access: 'approver',
  input: ApprovalRuleListRequest,
  output: ApprovalRuleListResponse,
  run:
    ({ approvals }: Pick<OperationParts, 'approvals'>) =>
    (_input, { principal }) => ({ rules: approvals.rules(principal.tenantId).map(ruleOf) }),
});

/** Ends a standing rule: calls that it approved wait for a person again. */
export const revokeApprovalRule = operation({
  name: 'approvals.revoke-rule',
  summary: 'Revoke a standing rule',
  method: 'DELETE',
  path: '/v1/approval-rules/{rule_id}',
  status: 200,
  access: 'approver',
  input: ApprovalRuleRevokeRequest,
  output: ApprovalRule,
  run:
    ({ approvals }: Pick<OperationParts, 'approvals'>) =>
    async ({ rule_id: id, reason }, asker) => {
      const revoked = await approvals.revokeRule(approverOf(asker), id, reason);
      return revoked === undefined
        ? failure('E3809', `The tenant has no standing rule ${id}. See "approvals rules".`)
        : ruleOf(revoked);
    },
});
