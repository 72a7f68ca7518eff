import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Durability } from '../ledger-store.port.ts';

/** What one writer has to say: a row, where there is one, and the events about it. */
export interface LedgerEntry {
  readonly record?: InvocationRecord;
  readonly events: readonly EventDraft[];
  readonly durability: Durability;
  /**
   * The row holds the events, and they are not linked yet: whoever writes the row next links them, so that a short call
   * has one row of events and not two.
   */
  readonly inRow?: true;
}
