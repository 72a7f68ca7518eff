import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { EventMembers, EventParts } from './event-draft.ts';

/** An event with its members. */
interface Said {
  readonly data: EventMembers;
  readonly parts?: EventParts | undefined;
}

/** Events with what all of them have in common cut off. */
interface CutEvents {
  readonly common: EventMembers;
  /** What each says beside it, in their order. */
  readonly own: readonly EventMembers[];
}

const NONE: EventMembers = {};

/** Cuts off what all of these events say, as far as they tell their parts and share the same: else nothing is cut. */
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
