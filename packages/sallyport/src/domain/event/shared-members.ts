import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { EventMembers, EventParts } from './event-draft.ts';

/** An event with its members. */
interface Said {
  readonly data: EventMembers;
  readonly parts?: EventParts | undefined;
}

/** Events, with the members that they share cut off. */
interface CutEvents {
  readonly common: EventMembers;
  /** Members of each event besides the shared ones, in the order of the events. */
  readonly own: readonly EventMembers[];
}

const NONE: EventMembers = {};

/**
 * Cuts off the members that all events share. Only when all of them are split and their shared parts are the same; else
 * nothing is cut.
 */
export function cutCommon(events: readonly Said[]): CutEvents {
  const shared = events[0]?.parts?.shared;
  if (shared === undefined) return whole(events);
  let text: string | undefined;
  const own: EventMembers[] = [];
  for (const { parts } of events) {
    if (parts === undefined) return whole(events);
    own.push(parts.own);
    if (parts.shared === shared) continue;
    text ??= canonicalJson(shared);
    if (canonicalJson(parts.shared) !== text) return whole(events);
  }
  return { common: shared, own };
}

const whole = (events: readonly Said[]): CutEvents => ({ common: NONE, own: events.map(({ data }) => data) });
