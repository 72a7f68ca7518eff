// Hot path: the events of every call are stored by these.
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { EventMembers } from './event-draft.ts';

const NONE: EventMembers = {};

/** The members that all of these events have, as far as they say so: those of the first, when the others share the same. */
export function membersInCommon(events: readonly { readonly shared?: EventMembers | undefined }[]): EventMembers {
  const shared = events[0]?.shared;
  if (shared === undefined) return NONE;
  let text: string | undefined;
  for (const event of events) {
    if (event.shared === shared) continue;
    text ??= canonicalJson(shared);
    if (event.shared === undefined || canonicalJson(event.shared) !== text) return NONE;
  }
  return shared;
}

/** The members of `data` beside those in common. */
export function membersBeside(data: EventMembers, common: EventMembers): EventMembers {
  if (common === NONE) return data;
  const own: Record<string, unknown> = {};
  for (const name in data) if (data[name] !== undefined && !Object.hasOwn(common, name)) own[name] = data[name];
  return own;
}
