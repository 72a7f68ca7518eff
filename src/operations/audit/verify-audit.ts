import { verifyLedger } from '../../audit/verify-ledger.ts';
import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Reads all that is on record (AUD-03, AUD-07). */
export function verifyAudit({ records, signer }: Pick<OperationParts, 'records' | 'signer'>): Run<'audit.verify'> {
  return () => verifyLedger(records, signer);
}
