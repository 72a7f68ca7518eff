import { isFailure } from '@sallyport/std/error/failure';
import { sha256 } from '@sallyport/std/sha256';
import { type ToolStatusResponse, ToolWatchRequest, ToolWatchResponse } from '../../../api/schemas/invocation.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { type StatusParts, statusFor } from './get-invocation.ts';

/** How often a call that runs here is polled, in ms: reading memory costs nothing. */
const HERE_MS = 100;
/** How often the record of any other call is polled, in ms. */
const RECORD_MS = 500;

/**
 * Resolves to the status of a call once it differs from the one that the caller saw last: at once, or after a wait,
 * which ends early when a call in this instance ends. Progress reports in between are skipped: a watcher sees at most
 * ten states a second.
 */
export const watchInvocation = operation({
  name: 'invocations.watch',
  summary: 'Status of an invocation once it is another than the caller knows',
  method: 'GET',
  path: '/v1/invocations/{invocation_id}/changes',
  status: 200,
  access: 'token',
  input: ToolWatchRequest,
  output: ToolWatchResponse,
  run: (parts: StatusParts & Pick<OperationParts, 'clock'>) => {
    const { running, clock } = parts;
    return async ({ invocation_id, after, wait_seconds = 0, own = false }, asker) => {
      const until = clock.monotonic() + wait_seconds * 1000;
      const { signal } = asker.caller;
      const { tenantId } = asker.principal;
      // Begins before the first poll, so that no end is missed between a poll and a wait.
      using watch = running.watch(tenantId, invocation_id);
      for (;;) {
        const status = await statusFor(parts, invocation_id, asker, own);
        if (isFailure(status)) return status;
        const seen = watched(status, after);
        const leftMs = until - clock.monotonic();
        if (seen.changed || seen.over || leftMs <= 0 || signal?.aborted === true) return seen;
        const isHere = running.find(tenantId, invocation_id) !== undefined;
        await watch.next(Math.min(leftMs, isHere ? HERE_MS : RECORD_MS), signal);
      }
    };
  },
});

function watched(invocation: ToolStatusResponse, after: string | undefined): ToolWatchResponse {
  const { state, status, progress_percent, current_phase } = invocation;
  // The same in every instance, whether the status came from memory or from the record.
  const event_id = sha256(JSON.stringify([state, status, progress_percent, current_phase])).slice(0, 16);
  return { event_id, changed: event_id !== after, over: isFinal(state), invocation };
}
