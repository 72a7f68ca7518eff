import { AuditVerification } from '../../../api/schemas/audit.ts';
import { NoInput } from '../../../api/schemas/identifiers.ts';
import { verifyLedger } from '../../audit/verify-ledger.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Verifies the whole record, and compares it with what is known outside the tables (AUD-03, AUD-07). */
export const verifyAudit = operation({
  name: 'audit.verify',
  summary: 'Check the hash chains, and whether every call is in them',
  method: 'GET',
  path: '/v1/audit/verification',
  status: 200,
  access: 'viewer',
  layerWide: true,
  input: NoInput,
  output: AuditVerification,
  run:
    ({ records, signer, outside }: Pick<OperationParts, 'records' | 'signer' | 'outside'>) =>
    () =>
      verifyLedger(records, signer, outside),
});
