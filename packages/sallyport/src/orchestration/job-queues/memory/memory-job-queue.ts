import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { type CallKey, textOfCall } from '../../../domain/invocation/call-key.ts';
import type { Job, JobQueue } from '../../job-queue.port.ts';

/** Most jobs held; a job without room is dropped, and the sweep finds its call. */
const JOBS_MAX = 100_000;
/** Longest wait for a job, ms. */
const WAIT_MS = 5_000;

/** A queue of this process only, lost when it ends. The rows say which calls waited. */
export function memoryJobQueue({ jobsMax = JOBS_MAX, waitMs = WAIT_MS } = {}): JobQueue {
  /** In order of `due`, then of arrival. */
  const jobs: Job[] = [];
  const known = new Set<string>();
  let waiter: ((job: CallKey | undefined) => void) | undefined;
  let closed = false;

  const takeFirst = (): CallKey | undefined => {
    const job = jobs.shift();
    if (job === undefined) return undefined;
    known.delete(textOfCall(job));
    return { tenantId: job.tenantId, invocationId: job.invocationId };
  };
  const close = async (): Promise<void> => {
    closed = true;
    waiter?.(undefined);
  };
  return {
    async add(added) {
      if (closed) throw new ToolLayerError('E3812', 'The queue of calls is closed.');
      for (const job of added) {
        if (known.has(textOfCall(job)) || jobs.length >= jobsMax) continue;
        known.add(textOfCall(job));
        jobs.splice(placeOf(jobs, job.due), 0, job);
      }
      if (jobs.length > 0 && waiter !== undefined) waiter(takeFirst());
    },
    async next() {
      if (closed) return undefined;
      const first = takeFirst();
      if (first !== undefined) return first;
      const { promise, resolve } = Promise.withResolvers<CallKey | undefined>();
      waiter = resolve;
      const timer = setTimeout(() => resolve(undefined), waitMs);
      return promise.finally(() => {
        clearTimeout(timer);
        waiter = undefined;
      });
    },
    async remove(call) {
      if (!known.delete(textOfCall(call))) return false;
      const at = jobs.findIndex((job) => textOfCall(job) === textOfCall(call));
      if (at >= 0) jobs.splice(at, 1);
      return at >= 0;
    },
    length: async () => jobs.length,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Index after all jobs that are due no later, by binary search. */
function placeOf(jobs: readonly Job[], due: number): number {
  let low = 0;
  let high = jobs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((jobs[middle]?.due ?? due) > due) high = middle;
    else low = middle + 1;
  }
  return low;
}
