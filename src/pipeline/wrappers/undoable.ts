import { stateAfterFailure } from '../../domain/invocation/lifecycle.ts';
import type { FlightEnd } from '../flight/flight.ts';
import type { PipelineParts } from '../parts.ts';
import { outcomeUnknown, rollbackFailed } from '../stages/attempts/outcome-unknown.ts';
import { rollBackLeftover } from '../undo/leftover.ts';
import type { Wrapper } from '../wrapper.ts';

/**
 * What a call that did not succeed has changed is taken back, and what any call opened is closed (PIPE-03). Where a call
 * was cut off and cannot be taken back, it ends as outcome unknown (PIPE-13).
 */
export function undoable(parts: Pick<PipelineParts, 'log' | 'transactions'>): Wrapper {
  const { log } = parts;
  return {
    name: 'undoable',
    wrap: (next) => async (flight) => {
      const leftover = flight.resumed?.cutOff === true ? await rollBackLeftover(parts, flight.resumed) : undefined;
      const end: FlightEnd = leftover === undefined ? await next(flight) : { state: 'ABORTED', failure: leftover };
      const { failure } = end;
      // A call that waits keeps what it holds, its idempotency key above all.
      if (failure === undefined) {
        flight.undo.commit();
        await flight.undo.close(log);
        return end;
      }
      const rolledBack = await flight.undo.rollBack(log);
      await flight.undo.close(log);
      if (rolledBack === 'done') {
        log.info('rolled-back', { invocation_id: flight.call.invocationId, e_code: failure.code });
        if (end.state === 'ABORTED') await flight.enter('ABORTED');
        return { ...end, state: 'ROLLED_BACK' };
      }
      const unknown = rolledBack === 'failed' ? rollbackFailed(failure) : outcomeUnknown(flight, failure);
      if (unknown === undefined) return end;
      if (failure.code === 'E3900') log.error('call-failed', { cause: causeOf(failure.cause) });
      return { ...end, state: stateAfterFailure(unknown), failure: unknown };
    },
  };
}

const causeOf = (cause: unknown): string => (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
