import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Approvals } from '../../orchestration/approvals.ts';
import type { OperationParts } from '../parts.ts';

/** The part of the layer that operations on approvals use. */
export type ApprovalsPart = Pick<OperationParts, 'approvals'>;

/** The approvals (ORC-03, ORC-05). @throws ToolLayerError E3901 when the layer has none */
export function approvalsOf({ approvals }: ApprovalsPart): Approvals {
  if (approvals !== undefined) return approvals;
  throw new ToolLayerError('E3901', 'In this layer nobody can approve: calls that need a person are refused.');
}
