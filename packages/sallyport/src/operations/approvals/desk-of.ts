import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ApprovalOffice } from '../../orchestration/approval-desk.ts';
import type { OperationParts } from '../parts.ts';

/** The part of the layer that operations on approvals use. */
export type DeskParts = Pick<OperationParts, 'approvalDesk'>;

/** The approval desk (ORC-03, ORC-05). @throws ToolLayerError E3901 where the layer has none */
export function deskOf({ approvalDesk }: DeskParts): ApprovalOffice {
  if (approvalDesk !== undefined) return approvalDesk;
  throw new ToolLayerError('E3901', 'This layer has no approval desk: calls that need a person are refused.');
}
