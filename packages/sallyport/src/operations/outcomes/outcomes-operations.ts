import type { OUTCOMES } from '../catalogue/outcomes.ts';
import type { OperationsOf } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { getOutcome, listOutcomes } from './list-outcomes.ts';
import { reconcileOutcome } from './reconcile-outcome.ts';
import { settleOutcome } from './settle-outcome.ts';
import { verifyCall } from './verify-call.ts';

/** What can be asked about calls whose outcome is not known, and about results. */
export function outcomesOperations(parts: OperationParts): OperationsOf<typeof OUTCOMES> {
  return {
    'outcomes.list': listOutcomes(parts),
    'outcomes.get': getOutcome(parts),
    'outcomes.settle': settleOutcome(parts),
    'outcomes.reconcile': reconcileOutcome(parts),
    'tool.verify': verifyCall(parts),
  };
}
