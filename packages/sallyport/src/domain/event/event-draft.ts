import type { EventType } from '../../../api/schemas/cloud-event.ts';
import type { PayloadText } from './payload-text.ts';

/** An audited fact before it has its place in a hash chain. */
export interface EventDraft {
  readonly id: string;
  readonly type: EventType;
  /** Epoch ms. */
  readonly time: number;
  readonly tenantId: string;
  /** What it is about: an invocation id, a tool id. */
  readonly subject?: string;
  readonly data: Record<string, unknown>;
}

/** A draft whose `data` is text already: those who write many events make it cheaper than anybody can afterwards. */
export interface WrittenDraft extends Omit<EventDraft, 'data'> {
  readonly written: PayloadText;
}
