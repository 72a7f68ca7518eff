import { verifyChains } from '../../audit/verify-chains.ts';
import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Reads every chain from its start (AUD-03). */
export function verifyAudit({ records, signer }: Pick<OperationParts, 'records' | 'signer'>): Run<'audit.verify'> {
  return () => verifyChains(records, signer);
}
