import { type Failure, failure } from '@sallyport/std/error/failure';
import type { Resumed } from '../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../parts.ts';
import { rollBackOpen } from './roll-back-open.ts';

/**
 * Takes back what the first run of a cut-off call changed before the call runs again, so that both runs begin alike.
 * @returns the failure of the call when that is impossible
 */
export async function rollBackLeftover(
  { transactions, log }: Pick<PipelineParts, 'transactions' | 'log'>,
  { waiting, invocationId }: Resumed,
): Promise<Failure | undefined> {
  const tenantId = waiting.claims.tenant_id;
  const open = await transactions.journal.find(tenantId, invocationId);
  if (open === undefined) return undefined;
  if ((await rollBackOpen(transactions, open, log)) === 'failed') {
    return failure('E3804', 'The call was cut off, and not all that it changed could be taken back.', {
      details: { rollback: 'failed' },
    });
  }
  await transactions.journal.close(tenantId, invocationId);
  return undefined;
}
