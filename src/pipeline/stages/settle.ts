import type { Inspected, Settled } from '../call.ts';
import type { Stage } from '../stage.ts';

/** Stage 11: what the call changed stays; from here on nothing is taken back. The record itself is written by `audited`. */
export function settle(): Stage<Inspected, Settled> {
  return {
    name: 'settle',
    run(_call, flight) {
      flight.undo.commit();
      return { settled: true };
    },
  };
}
