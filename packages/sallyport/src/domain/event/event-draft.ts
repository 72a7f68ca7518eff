import type { EventType } from '../../../api/schemas/cloud-event.ts';

/** An audited fact before it is linked into a hash chain. */
export interface EventDraft {
  readonly id: string;
  readonly type: EventType;
  /** Epoch ms. */
  readonly time: number;
  readonly tenantId: string;
  /** The id of the invocation or the tool that it is about. */
  readonly subject?: string;
  /** Members in ascending order are cheaper to write; the order changes nothing else. */
  readonly data: EventMembers;
  /** The same members in two parts, for an event of a call whose row holds most of them too. */
  readonly parts?: EventParts;
  /** Agent by which the event is found, when redaction removed it from `data`. */
  readonly agentDid?: string;
}

/** `data` in two parts that have no member in common. */
export interface EventParts {
  /** Members that the row of the call has too, so that they are the same in all its events: stored once. */
  readonly shared: EventMembers;
  /** All other members. */
  readonly own: EventMembers;
}

/** Members of an event's `data`. An undefined member counts as absent. */
export type EventMembers = Readonly<Record<string, unknown>>;
