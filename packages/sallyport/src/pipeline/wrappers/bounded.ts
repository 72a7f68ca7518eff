import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { ConnectionLost } from '../../domain/principal/connection-lost.ts';
import { createTimeLimit } from '../ongoing/time-limit.ts';
import type { PipelineParts } from '../parts.ts';
import type { Wrapper } from './wrapper.ts';

/**
 * A call ends with its caller, and never lasts longer than any call may. Timeouts of the tool itself lie inside. A call that
 * runs under an idempotency key goes on when the connection of its caller breaks: the caller asks again, and gets its answer.
 */
export function bounded({ limits }: Pick<PipelineParts, 'limits'>): Wrapper {
  // Nobody waits for the answer of a call that waited: it may last longer (PIPE-12).
  const laterMs = limits.laterTimeoutMsMax ?? limits.timeoutMsMax;
  const present = createTimeLimit(limits.timeoutMsMax);
  const later = createTimeLimit(laterMs);
  return {
    name: 'bounded',
    wrap: (next) => async (ongoing, enter) => {
      const { controller, call } = ongoing;
      const { signal } = call.caller;
      const isLater = ongoing.resumed !== undefined;
      const limit = isLater ? later : present;
      const run = limit.begin(() => controller.abort(tooLong(isLater ? laterMs : limits.timeoutMsMax, isLater)));
      const onGone = (): void => {
        const isAwaited = signal?.reason instanceof ConnectionLost && call.idempotencyKey !== undefined;
        if (!isAwaited) controller.abort(gone(signal?.reason));
      };
      if (signal?.aborted === true) onGone();
      signal?.addEventListener('abort', onGone, { once: true });
      try {
        return await next(ongoing, enter);
      } finally {
        limit.end(run);
        signal?.removeEventListener('abort', onGone);
      }
    },
  };
}

const tooLong = (ms: number, isLater: boolean): ToolLayerError =>
  new ToolLayerError('E3103', `No ${isLater ? '' : 'synchronous '}call may last longer than ${ms / 1000} s.`, {
    details: { timeout_ms: ms },
  });

/** The caller's own reason, where it is one of ours. */
const gone = (reason: unknown): ToolLayerError =>
  reason instanceof ToolLayerError
    ? reason
    : new ToolLayerError('E3805', 'The caller cancelled the call or went away.');
