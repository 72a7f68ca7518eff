import type { EventDraft, WrittenDraft } from '../../domain/event/event-draft.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Durability } from '../ledger-store.port.ts';

/** What one writer has to say: a row, where there is one, and the events about it. */
export interface LedgerEntry {
  readonly record?: InvocationRecord;
  readonly events: readonly (EventDraft | WrittenDraft)[];
  readonly durability: Durability;
}
