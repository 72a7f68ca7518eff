import { type CallKey, textOfCall } from '../../../src/domain/invocation/call-key.ts';

/** The members of an event that are needed to find it by its call. */
interface EventOfCall {
  readonly tenantId: string;
  readonly invocationId: string | undefined;
}

/** Finds the events of a call in a list that only grows. */
export interface EventsByCall<Event extends EventOfCall> {
  find(call: CallKey): readonly Event[];
}

/** The index is built at the first query, so that appending events costs nothing extra. */
export function createEventsByCall<Event extends EventOfCall>(events: readonly Event[]): EventsByCall<Event> {
  const byCall = new Map<string, Event[]>();
  let seen = 0;
  return {
    find(call) {
      for (; seen < events.length; seen += 1) {
        const event = events[seen] as Event;
        const { tenantId, invocationId } = event;
        if (invocationId === undefined) continue;
        const text = textOfCall({ tenantId, invocationId });
        const others = byCall.get(text);
        if (others === undefined) byCall.set(text, [event]);
        else others.push(event);
      }
      return byCall.get(textOfCall(call)) ?? [];
    },
  };
}
