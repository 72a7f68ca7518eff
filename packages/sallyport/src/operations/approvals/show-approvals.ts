import { type Failure, isFailure } from '@sallyport/std/error/failure';
import type { ApprovalOffice } from '../../orchestration/approval-desk.ts';
import type { Run } from '../catalogue/run.ts';
import type { OperationOutput } from '../catalogue.ts';
import { closedOf, pendingApprovalOf, voteOf } from './wire.ts';

const PAGE_SIZE = 50;

/** The approvals of the asker's tenant. */
export function listApprovals(desk: () => ApprovalOffice): Run<'approvals.list'> {
  return async ({ state = 'pending', page = 1, page_size: size = PAGE_SIZE }, { principal: { tenantId } }) => {
    const offset = (page - 1) * size;
    if (state === 'decided') return { approvals: (await desk().decided(tenantId, size, offset)).map(closedOf) };
    return { approvals: (await desk().pending(tenantId, size, offset)).map(pendingApprovalOf) };
  };
}

/** One approval with all that an approver has to see. */
export function showApproval(desk: () => ApprovalOffice): Run<'approvals.show'> {
  return async ({ approval_id: id }, { principal: { tenantId } }) => {
    const shown = await shownApproval(desk(), tenantId, id);
    return isFailure(shown) ? shown : { ...shown, votes: (await desk().votes(tenantId, id)).map(voteOf) };
  };
}

async function shownApproval(
  desk: ApprovalOffice,
  tenantId: string,
  id: string,
): Promise<Omit<OperationOutput<'approvals.show'>, 'votes'> | Failure> {
  const pending = await desk.find(tenantId, id);
  if (!isFailure(pending)) {
    const { tool, waiting } = pending;
    const environment = waiting.request.execution_options?.environment;
    return {
      approval: pendingApprovalOf(pending),
      parameters: { ...waiting.request.parameters },
      ...(environment === undefined ? {} : { environment }),
      ...(tool === undefined ? {} : { tool_description: tool.manifest.description }),
    };
  }
  const closed = await desk.outcome(tenantId, id);
  return closed === undefined ? pending : { approval: closedOf(closed) };
}
