import type { EventDraft, WrittenDraft } from './event-draft.ts';
import { payloadTextOf } from './payload-text.ts';

/** Events that a call's row holds until they are linked. Tenant and subject are those of the row. */
export interface HeldEvents {
  /** Members of `data` that all of them have, as JSON without braces; empty for none. */
  readonly shared: string;
  readonly each: readonly HeldEvent[];
}

/** One of them: the members of its `data` that it does not share. */
export interface HeldEvent extends Pick<EventDraft, 'id' | 'type' | 'time'> {
  readonly own: string;
}

/** Events of one call, as its row holds them. */
export function holdEvents(drafts: readonly (EventDraft | WrittenDraft)[]): HeldEvents {
  const texts = drafts.map((draft) => ('written' in draft ? draft.written : payloadTextOf(draft.data)));
  const shared = texts[0]?.shared ?? '';
  const isShared = texts.every((text) => text.shared === shared);
  const each = drafts.map(({ id, type, time }, at) => {
    const text = texts[at];
    return { id, type, time, own: (isShared ? text?.own : text?.text.slice(1, -1)) ?? '' };
  });
  return { shared: isShared ? shared : '', each };
}

/** The events that a row holds, as they were to be linked; none when it holds none. */
export function heldDrafts(row: {
  readonly tenantId: string;
  readonly invocationId: string;
  readonly agentDid: string;
  readonly heldEvents?: HeldEvents;
}): readonly WrittenDraft[] {
  const { tenantId, invocationId, agentDid, heldEvents: held } = row;
  if (held === undefined) return [];
  return held.each.map(({ own, ...event }) => {
    const members = [held.shared, own].filter((text) => text !== '').join();
    // An event is found by its agent, whatever its text says of it.
    const written = { ...payloadTextOf(JSON.parse(`{${members}}`)), agentDid };
    return { ...event, tenantId, subject: invocationId, written };
  });
}
