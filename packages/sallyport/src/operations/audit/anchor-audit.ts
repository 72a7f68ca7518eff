import { AnchorList, AnchorsToVerify, AnchorVerification } from '../../../api/schemas/audit.ts';
import { NoInput } from '../../../api/schemas/identifiers.ts';
import { signHeads, verifyAnchors } from '../../audit/anchors.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Signs the head of every chain, to be kept outside (AUD-07). */
export const anchorAudit = operation({
  name: 'audit.anchor',
  summary: 'Sign the heads of all hash chains, to be kept outside',
  method: 'POST',
  path: '/v1/audit/anchors',
  status: 201,
  access: 'operator',
  layerWide: true,
  input: NoInput,
  output: AnchorList,
  run:
    ({ records, signer, clock }: Pick<OperationParts, 'records' | 'signer' | 'clock'>) =>
    async () => ({ anchors: await signHeads(records, signer, clock.now()) }),
});

/** Compares heads that were kept outside with the chains (AUD-07). */
export const verifyAuditAnchors = operation({
  name: 'audit.verify-anchors',
  summary: 'Compare heads that were kept outside with the hash chains',
  method: 'POST',
  path: '/v1/audit/anchors/verification',
  status: 200,
  access: 'viewer',
  layerWide: true,
  input: AnchorsToVerify,
  output: AnchorVerification,
  run:
    ({ records, signer }: Pick<OperationParts, 'records' | 'signer'>) =>
    ({ anchors }) =>
      verifyAnchors(records, signer, anchors),
});
