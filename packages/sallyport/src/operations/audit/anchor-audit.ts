import { signHeads, verifyAnchors } from '../../audit/anchors.ts';
import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';

/** Signs the head of every chain, to be kept outside (AUD-07). */
export function anchorAudit({
  records,
  signer,
  clock,
}: Pick<OperationParts, 'records' | 'signer' | 'clock'>): Run<'audit.anchor'> {
  return async () => ({ anchors: await signHeads(records, signer, clock.now()) });
}

/** Compares heads that were kept outside with the chains (AUD-07). */
export function verifyAuditAnchors({
  records,
  signer,
}: Pick<OperationParts, 'records' | 'signer'>): Run<'audit.verify-anchors'> {
  return ({ anchors }) => verifyAnchors(records, signer, anchors);
}
