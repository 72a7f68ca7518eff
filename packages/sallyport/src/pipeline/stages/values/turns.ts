import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@sallyport/std/clock';

/**
 * Called between the steps of long work; the result is awaited, so that other work gets its turn. Undefined while no
 * pause is due.
 */
export type Turns = () => Promise<void> | undefined;

/** Ms between pauses: well below the 50 ms for which a large result may hold the event loop at a time. */
const HOLD_MS = 10;

/** Starts counting the time of the steps. */
export function createTurns({ monotonic }: Pick<Clock, 'monotonic'>): Turns {
  let since = monotonic();
  return () => {
    if (monotonic() - since < HOLD_MS) return undefined;
    return nextTurn().then(() => {
      since = monotonic();
    });
  };
}
