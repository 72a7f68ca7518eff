import type { LedgerStore } from '../../../audit/ledger-store.port.ts';
import { isFinal } from '../../../domain/invocation/lifecycle.ts';
import type { StateHolder, StateStore } from '../../state-store.port.ts';

type Store = Pick<StateStore, 'keep' | 'discard'>;
type Records = Pick<LedgerStore, 'findInvocation'>;

/**
 * Decides on another call's write by the row of that call: the row says whether the write stays, also when the call
 * ended a moment ago, or its instance ended before it could settle it.
 * @param asker a later run of the same call takes over the writes of an earlier one
 * @returns false when the call is under way
 */
export async function settleHolder(
  store: Store,
  records: Records,
  holder: StateHolder,
  asker: StateHolder,
): Promise<boolean> {
  if (holder.invocationId !== asker.invocationId) return settleEnded(store, records, holder);
  // A run that lost its lease is over, whatever it still does.
  if (holder.fence > asker.fence) return false;
  await store.discard(holder);
  return true;
}

/** @returns false when the call is under way */
export async function settleEnded(store: Store, records: Records, holder: StateHolder): Promise<boolean> {
  const record = await records.findInvocation(holder.tenantId, holder.invocationId);
  if (record === undefined) return false;
  const { state, fence = 0 } = record;
  if (!isFinal(state) && fence <= holder.fence) return false;
  if (state === 'COMPLETED' && fence === holder.fence) await store.keep(holder);
  else await store.discard(holder);
  return true;
}
