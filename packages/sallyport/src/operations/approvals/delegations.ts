import { isFailure } from '@sallyport/std/error/failure';
import {
  ApprovalDelegateRequest,
  ApprovalDelegation,
  ApprovalDelegationEndRequest,
  ApprovalDelegationListResponse,
} from '../../../api/schemas/calls/approvals.ts';
import { NoInput } from '../../../api/schemas/identifiers.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { approverOf } from './approver-of.ts';
import { delegationOf } from './wire.ts';

/** Lets another person decide in the asker's name for a limited time. */
export const delegateApprovals = operation({
  name: 'approvals.delegate',
  summary: "Let somebody else decide in the asker's name, for a time",
  method: 'POST',
  path: '/v1/approval-delegations',
  status: 201,
  access: 'approver',
  input: ApprovalDelegateRequest,
  output: ApprovalDelegation,
  run:
    ({ approvals }: Pick<OperationParts, 'approvals'>) =>
    async ({ to, for_seconds: seconds, reason }, asker) => {
      const because = reason === undefined ? {} : { reason };
      const made = await approvals.delegate({
        approver: approverOf(asker),
        to,
        forMs: seconds * 1000,
        ...because,
      });
      return isFailure(made) ? made : delegationOf(made);
    },
});

/** The delegations in force in the asker's tenant. */
export const listDelegations = operation({
  name: 'approvals.delegations',
  summary: 'List the delegations that stand',
  method: 'GET',
  path: '/v1/approval-delegations',
  status: 200,
  access: 'approver',
  input: NoInput,
  output: ApprovalDelegationListResponse,
  run:
    ({ approvals }: Pick<OperationParts, 'approvals'>) =>
    async (_input, { principal }) => ({
      delegations: (await approvals.delegations(principal.tenantId)).map(delegationOf),
    }),
});

/** Ends a delegation before its time. */
export const endDelegation = operation({
  name: 'approvals.end-delegation',
  summary: 'End a delegation: its maker may, and every admin',
  method: 'DELETE',
  path: '/v1/approval-delegations/{delegation_id}',
  status: 200,
  access: 'approver',
  input: ApprovalDelegationEndRequest,
  output: ApprovalDelegation,
  run:
    ({ approvals }: Pick<OperationParts, 'approvals'>) =>
    async ({ delegation_id: id }, asker) => {
      const ended = await approvals.endDelegation(approverOf(asker), id);
      return isFailure(ended) ? ended : delegationOf(ended);
    },
});
