import type { LedgerStore } from '../../../audit/ledger-store.port.ts';
import type { Undoer, UndoneCall, UndoStep } from '../../../domain/invocation/undo-step.ts';
import type { StateHolder, StateStore } from '../../state-store.port.ts';
import { settleEnded } from './settle-holder.ts';

/** Kind of the one step that covers all that an attempt writes to its tool's state. */
export const STATE_STEP = 'state';

/** Takes back what calls wrote to the state of their tools, and keeps it when they completed (PIPE-03). */
export function stateUndoer(
  store: Pick<StateStore, 'keep' | 'discard'>,
  records: Pick<LedgerStore, 'findInvocation'>,
): Undoer {
  return {
    first: true,
    anywhere: true,
    async undo(step, of) {
      await store.discard(holderOf(step, of));
    },
    // A run that lost its call to another run does not know it, but the row does.
    async keep(step, of) {
      if (!(await settleEnded(store, records, holderOf(step, of)))) throw new Error('the call is not over on record');
    },
  };
}

function holderOf({ fence }: UndoStep, { tenantId, invocationId }: UndoneCall): StateHolder {
  if (typeof fence !== 'number') throw new Error('the step names no lease');
  return { tenantId, invocationId, fence };
}
