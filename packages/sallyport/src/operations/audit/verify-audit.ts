import { verifyLedger } from '../../audit/verify-ledger.ts';
import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';

/** Reads all that is on record, and compares it with what is known outside the tables (AUD-03, AUD-07). */
export function verifyAudit({
  records,
  signer,
  outside,
}: Pick<OperationParts, 'records' | 'signer' | 'outside'>): Run<'audit.verify'> {
  return () => verifyLedger(records, signer, outside);
}
