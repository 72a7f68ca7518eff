import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@sallyport/std/clock';

/** To be called between the steps of long work: what it gives is awaited, so that other work has its turn; nothing before it is due. */
export type Turns = () => Promise<void> | undefined;

/** Well below the 50 ms that a large result may hold the event loop at a time. */
const HOLD_MS = 10;

/** The steps begin now. */
export function createTurns({ monotonic }: Pick<Clock, 'monotonic'>): Turns {
  let since = monotonic();
  return () => {
    if (monotonic() - since < HOLD_MS) return undefined;
    return nextTurn().then(() => {
      since = monotonic();
    });
  };
}
