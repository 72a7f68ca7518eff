import type { PipelineParts } from '../parts.ts';
import type { Wrapper } from '../wrapper.ts';

/** What a call that did not succeed has changed is taken back, and what any call opened is closed (PIPE-03). */
export function undoable({ log }: Pick<PipelineParts, 'log'>): Wrapper {
  return {
    name: 'undoable',
    wrap: (next) => async (flight) => {
      const end = await next(flight);
      // A call that waits keeps what it holds, its idempotency key above all.
      if (end.failure === undefined) {
        flight.undo.commit();
        await flight.undo.close(log);
        return end;
      }
      const rolledBack = await flight.undo.rollBack(log);
      await flight.undo.close(log);
      if (!rolledBack) return end;
      if (end.state === 'ABORTED') await flight.enter('ABORTED');
      return { ...end, state: 'ROLLED_BACK' };
    },
  };
}
