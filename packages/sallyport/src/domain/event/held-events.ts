import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { EventDraft, EventMembers } from './event-draft.ts';
import { cutCommon } from './shared-members.ts';

/** Events that a call's row holds until they are linked. Tenant and subject are those of the row. */
export interface HeldEvents {
  /** Members of `data` that all events share, as JSON without braces; empty for none. */
  readonly shared: string;
  readonly each: readonly HeldEvent[];
}

/** One event: the members of its `data` that are not shared. */
export interface HeldEvent extends Pick<EventDraft, 'id' | 'type' | 'time'> {
  readonly own: string;
}

/** The events of one call in the form that its row holds. */
export function holdEvents(drafts: readonly EventDraft[]): HeldEvents {
  const { common, own } = cutCommon(drafts);
  const each = drafts.map(({ id, type, time }, at) => ({ id, type, time, own: membersText(own[at] ?? {}) }));
  return { shared: membersText(common), each };
}

const membersText = (members: EventMembers): string => canonicalJson(members).slice(1, -1);

/** The events in a row, as they are to be linked; empty when it holds none. */
export function heldDrafts(row: {
  readonly tenantId: string;
  readonly invocationId: string;
  readonly agentDid: string;
  readonly heldEvents?: HeldEvents;
}): readonly EventDraft[] {
  const { tenantId, invocationId, agentDid, heldEvents: held } = row;
  if (held === undefined) return [];
  return held.each.map(({ own, ...event }) => {
    const members = [held.shared, own].filter((text) => text !== '').join();
    // An event is found by its real agent, whatever its data say.
    return { ...event, tenantId, subject: invocationId, data: JSON.parse(`{${members}}`), agentDid };
  });
}
