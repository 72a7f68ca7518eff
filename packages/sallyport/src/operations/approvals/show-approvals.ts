import { type Failure, isFailure } from '@sallyport/std/error/failure';
import {
  ApprovalDetail,
  ApprovalListRequest,
  ApprovalListResponse,
  ApprovalShowRequest,
} from '../../../api/schemas/calls/approvals.ts';
import type { Approvals } from '../../orchestration/approvals.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { closedOf, pendingApprovalOf, voteOf } from './wire.ts';

const PAGE_SIZE = 50;

/** The approvals of the asker's tenant. */
export const listApprovals = operation({
  name: 'approvals.list',
  summary: 'List the calls that wait for a person, or those that were decided',
  method: 'GET',
  path: '/v1/approvals',
  status: 200,
  access: 'approver',
  input: ApprovalListRequest,
  output: ApprovalListResponse,
  run:
    ({ approvals }: Pick<OperationParts, 'approvals'>) =>
    async ({ state = 'pending', page = 1, page_size: size = PAGE_SIZE }, { principal: { tenantId } }) => {
      const offset = (page - 1) * size;
      if (state === 'decided') return { approvals: (await approvals.decided(tenantId, size, offset)).map(closedOf) };
      return { approvals: (await approvals.pending(tenantId, size, offset)).map(pendingApprovalOf) };
    },
});

/** One approval with everything that an approver needs to see. */
export const getApproval = operation({
  name: 'approvals.get',
  summary: 'One approval, with the arguments and who has approved it so far',
  method: 'GET',
  path: '/v1/approvals/{approval_id}',
  status: 200,
  access: 'approver',
  input: ApprovalShowRequest,
  output: ApprovalDetail,
  run:
    ({ approvals }: Pick<OperationParts, 'approvals'>) =>
    async ({ approval_id: id }, { principal: { tenantId } }) => {
      const shown = await shownApproval(approvals, tenantId, id);
      return isFailure(shown) ? shown : { ...shown, votes: (await approvals.votes(tenantId, id)).map(voteOf) };
    },
});

async function shownApproval(
  approvals: Approvals,
  tenantId: string,
  id: string,
): Promise<Omit<ApprovalDetail, 'votes'> | Failure> {
  const pending = await approvals.find(tenantId, id);
  if (!isFailure(pending)) {
    const { tool, waiting } = pending;
    const { execution_options, document_context } = waiting.request;
    const environment = execution_options?.environment;
    return {
      approval: pendingApprovalOf(pending),
      parameters: { ...waiting.request.parameters },
      ...(environment === undefined ? {} : { environment }),
      ...(document_context === undefined ? {} : { document_context }),
      ...(tool === undefined ? {} : { tool_description: tool.manifest.description }),
    };
  }
  const closed = await approvals.outcome(tenantId, id);
  return closed === undefined ? pending : { approval: closedOf(closed) };
}
