import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { ConnectionLost } from '../../domain/principal/connection-lost.ts';
import { createTimeLimit } from '../ongoing/time/time-limit.ts';
import type { PipelineParts } from '../parts.ts';
import type { Wrapper } from './wrapper.ts';

/**
 * Ends a call with its caller, and at the longest time that any call may last. Timeouts of the tool itself are shorter.
 * A call that runs under an idempotency key continues when its caller's connection breaks: the caller asks again, and
 * gets its answer.
 */
export function bounded({ limits }: Pick<PipelineParts, 'limits'>): Wrapper {
  // A call that waited may last longer, since no caller waits for its answer (PIPE-12).
  const laterMs = limits.laterTimeoutMsMax;
  const present = createTimeLimit(limits.timeoutMsMax);
  const later = createTimeLimit(laterMs);
  return (next) => async (ongoing, enter) => {
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
  };
}

const tooLong = (ms: number, isLater: boolean): ToolLayerError =>
  new ToolLayerError('E3103', `No ${isLater ? '' : 'synchronous '}call may last longer than ${ms / 1000} s.`, {
    details: { timeout_ms: ms },
  });

/** The caller's abort reason, when it is an error of the layer. */
const gone = (reason: unknown): ToolLayerError =>
  reason instanceof ToolLayerError
    ? reason
    : new ToolLayerError('E3805', 'The caller cancelled the call or went away.');
