import type { EventType } from '../../../api/schemas/cloud-event.ts';

/** An audited fact before it has its place in a hash chain. */
export interface EventDraft {
  readonly id: string;
  readonly type: EventType;
  /** Epoch ms. */
  readonly time: number;
  readonly tenantId: string;
  /** What it is about: an invocation id, a tool id. */
  readonly subject?: string;
  /** Members in ascending order are cheaper to write; their order changes nothing else. */
  readonly data: EventMembers;
  /** Members of `data` that the row of the call has too, so that all events of the call say them: they are stored once. */
  readonly shared?: EventMembers;
  /** Agent that the event is found by, when `data` does not name it any more: redaction took it out. */
  readonly agentDid?: string;
}

/** Members of an event's `data`. One that is undefined is not there. */
export type EventMembers = Readonly<Record<string, unknown>>;
