import { type Failure, failure as failureWith } from '@sallyport/std/error/failure';
import { stateAfterFailure } from '../../domain/invocation/lifecycle.ts';
import type { CallFact } from '../call.ts';
import type { EndedCall, OngoingCall } from '../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../parts.ts';
import { outcomeUnknown, rollbackFailed } from '../stages/attempts/outcome-unknown.ts';
import { rollBackLeftover } from '../undo/leftover.ts';
import type { RolledBack } from '../undo/transaction.ts';
import type { Wrapper } from './wrapper.ts';

/**
 * Takes back what an unsuccessful call has changed, and closes what any call opened (PIPE-03). A call that was cut off
 * and cannot be taken back ends as outcome unknown (PIPE-13).
 */
export function undoable(parts: Pick<PipelineParts, 'log' | 'transactions' | 'clock'>): Wrapper {
  const { log } = parts;
  return (next) => async (ongoing, enter) => {
    const leftover = ongoing.resumed?.cutOff === true ? await rollBackLeftover(parts, ongoing.resumed) : undefined;
    const end: EndedCall =
      leftover === undefined ? await next(ongoing, enter) : { state: 'ABORTED', failure: leftover };
    const { failure } = end;
    // A waiting call keeps what it holds, above all its idempotency key.
    if (failure === undefined) {
      await ongoing.undo.close(log);
      return end;
    }
    const isEnd = ongoing.resumed?.hold?.counts(failure, ongoing.toolRun.attempts) !== false;
    const rolledBack = await ongoing.undo.rollBack(log, isEnd);
    await ongoing.undo.close(log);
    const unknown = unknownAfter(rolledBack, ongoing, failure);
    if (unknown === undefined && (rolledBack === 'done' || rolledBack === 'part')) {
      log.info('rolled-back', { invocation_id: ongoing.call.invocationId, e_code: failure.code });
      if (end.state === 'ABORTED') await enter('ABORTED');
      return { ...end, state: 'ROLLED_BACK' };
    }
    if (unknown === undefined) return end;
    // The end of the call says another code, so that nobody else logs this cause.
    if (failure.code === 'E3900')
      log.error('call-failed', {
        invocation_id: ongoing.call.invocationId,
        e_code: failure.code,
        cause: failure.cause,
      });
    const facts = rolledBack === 'part' ? [partRolledBack(parts.clock.now())] : [];
    return { ...end, state: stateAfterFailure(unknown), failure: unknown, facts };
  };
}

/** The outcome that is unknown after the rollback; undefined when all is known. */
function unknownAfter(rolledBack: RolledBack, ongoing: OngoingCall, failed: Failure): Failure | undefined {
  switch (rolledBack) {
    case 'done':
      return undefined;
    case 'failed':
      return rollbackFailed(failed);
    case 'nothing':
      return outcomeUnknown(ongoing, failed);
    case 'part': {
      // The call's changes through the layer are taken back; its other effects are unknown.
      const unknown = outcomeUnknown(ongoing, failed);
      if (unknown === undefined) return undefined;
      const { code, message, details, cause } = unknown;
      return failureWith(code, message, {
        details: { ...details, rollback: 'done' },
        ...(cause === undefined ? {} : { cause }),
      });
    }
  }
}

/** The state of the call says only that its outcome is unknown; the rollback is audited all the same. */
const partRolledBack = (at: number): CallFact => ({
  type: 'ai.agent.tool.rolled_back',
  at,
  data: { rollback: 'done' },
});
