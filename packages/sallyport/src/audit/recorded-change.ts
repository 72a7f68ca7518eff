import { messageOf } from '@sallyport/std/error/message-of';
import type { EventDraft } from '../domain/event/event-draft.ts';
import type { EventsOf } from '../domain/event/events-of.ts';
import type { Log } from '../telemetry/log.ts';
import type { Ledger } from './ledger.ts';
import type { UnrecordedEvents } from './ledger-store.port.ts';

/**
 * Makes a change, and puts its events on record before it resolves. The store keeps the events in the transaction of
 * its change, so that they are recorded later, under the same ids, when the process ends or the ledger refuses them in
 * between. The reverse order, an announcement before the change, would not say whether the change was made.
 * @param change gives the store what it keeps
 */
export async function recordedChange<Changed, Result>(
  ledger: Pick<Ledger, 'commit'>,
  eventsOf: EventsOf<Changed>,
  change: (keep: EventsOf<Changed>) => Promise<Result>,
): Promise<Result> {
  let events: readonly EventDraft[] = [];
  const result = await change((changed) => {
    events = eventsOf(changed);
    return events;
  });
  if (events.length > 0) await ledger.commit({ events, durability: 'synchronous', kept: true });
  return result;
}

/**
 * The ledger, which also removes events that are on record from the store of unrecorded ones. What it cannot remove, the
 * next search does.
 */
export function removingRecorded(ledger: Ledger, unrecorded: Pick<UnrecordedEvents, 'remove'>, log: Log): Ledger {
  const commitKept: Ledger['commit'] = async (entry) => {
    await ledger.commit(entry);
    try {
      await unrecorded.remove(entry.events.map(({ id }) => id));
    } catch (cause) {
      log.warn('recorded-events-not-removed', { reason: messageOf(cause) });
    }
  };
  return { ...ledger, commit: (entry) => (entry.kept === true ? commitKept(entry) : ledger.commit(entry)) };
}
