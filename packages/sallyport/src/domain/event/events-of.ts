import type { EventDraft } from './event-draft.ts';

/**
 * Drafts the events of a change, from what was changed. A store that is given it calls it in the transaction of the
 * change, once the change is certain to be made, and keeps the drafts as unrecorded in the same transaction: a change
 * never stands without them, and they never stand without it. When it throws, nothing is changed.
 */
export type EventsOf<Changed> = (changed: Changed) => readonly EventDraft[];
