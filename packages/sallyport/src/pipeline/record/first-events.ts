import type { Ledger } from '../../audit/ledger.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { createTimeLimit } from '../ongoing/time/time-limit.ts';

/**
 * Puts calls on record that are about to run, with their events so far. The row and its events are written in one
 * transaction, but the row holds the events: most calls end soon, and then the chain gets all their events at once. The
 * chain gets the events of a longer call while it runs, and those of a call that was cut off from its row (recover.ts).
 */
export interface FirstEvents {
  begin(record: InvocationRecord, events: readonly EventDraft[], durability: 'synchronous' | 'asynchronous'): BegunCall;
}

/** A call that runs. */
export interface BegunCall {
  /** Settles when the row is written. */
  readonly standing: Promise<void>;
  /**
   * Called once, at the end: the events that the chain does not have yet. The writer of the end links them before its
   * own events.
   */
  unlinked(): readonly EventDraft[] | Promise<readonly EventDraft[]>;
}

/**
 * How long a row holds its events, ms: longer than a quick tool takes under load, and short for a client that watches.
 */
const HELD_MS = 50;

const NO_EVENTS: readonly EventDraft[] = [];

/** @param heldMs default 50 */
export function createFirstEvents({ commit }: Pick<Ledger, 'commit'>, heldMs = HELD_MS): FirstEvents {
  const limit = createTimeLimit(heldMs);
  return {
    begin(record, events, durability) {
      let linking: Promise<readonly EventDraft[]> | undefined;
      let end: (() => void) | undefined;
      const linked = (): readonly EventDraft[] => NO_EVENTS;
      const unlinked = (): readonly EventDraft[] => events;
      const hold = (): void => {
        const run = limit.begin(() => {
          // Synchronous: the end of the call does not repeat these events, and a crash of the database must not lose
          // them.
          linking = commit({ record, events, durability: 'synchronous' }).then(linked, unlinked);
        });
        end = () => limit.end(run);
      };
      return {
        standing: commit({ record, events, durability, inRow: true }).then(hold),
        unlinked() {
          if (linking !== undefined) return linking;
          end?.();
          return events;
        },
      };
    },
  };
}
