import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Durability } from '../ledger-store.port.ts';

/** One entry of a writer: a row, if any, and the events about it. */
export interface LedgerEntry {
  readonly record?: InvocationRecord;
  readonly events: readonly EventDraft[];
  readonly durability: Durability;
  /**
   * True when the row holds the events, not linked yet: the next writer of the row links them, so that a short call has
   * one row of events and not two.
   */
  readonly inRow?: true;
  /** True when a store keeps the events as unrecorded, with the change that they are about. */
  readonly kept?: true;
}
