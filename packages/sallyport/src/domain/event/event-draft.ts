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
  /** The same members in two parts, for an event of a call whose row says most of them too. */
  readonly parts?: EventParts;
  /** Agent that the event is found by, when `data` does not name it any more: redaction took it out. */
  readonly agentDid?: string;
}

/** `data` in two parts that have no member in common. */
export interface EventParts {
  /** Members that the row of the call has too, so that all its events say them: they are stored once. */
  readonly shared: EventMembers;
  /** The others. */
  readonly own: EventMembers;
}

/** Members of an event's `data`. One that is undefined is not there. */
export type EventMembers = Readonly<Record<string, unknown>>;
