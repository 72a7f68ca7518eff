import { isoTime } from '@sallyport/std/iso-time';
import type { UnrecordedEvents } from '../../audit/ledger-store.port.ts';
import type { OperationParts } from '../parts.ts';

/**
 * Ms after which an event that was committed with its change was left by its instance, which ended or could not record
 * it: more than any operation takes between the two, since a later commit by it would put the event on record twice.
 */
const LEFT_MS = 60_000;

/** Dependencies of the search. */
export interface UnrecordedParts extends Pick<OperationParts, 'ledger' | 'clock' | 'log'> {
  readonly unrecordedEvents: Pick<UnrecordedEvents, 'recordLeft'>;
}

/**
 * Puts events on record that stores committed with their changes and that no instance recorded since: under their own
 * ids and times, with the time of their recording as `recorded_at`. Resolves to their number.
 */
export async function recordKeptEvents(
  { unrecordedEvents, ledger, clock, log }: UnrecordedParts,
  olderThanMs = LEFT_MS,
): Promise<number> {
  const count = await unrecordedEvents.recordLeft(olderThanMs, (events) => {
    const recorded_at = isoTime(clock.now());
    const late = events.map((event) => ({ ...event, data: { ...event.data, recorded_at } }));
    return ledger.commit({ events: late, durability: 'synchronous' });
  });
  if (count > 0) log.warn('changes-recorded-late', { count });
  return count;
}
