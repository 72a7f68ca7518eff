import { type Failure, failure } from '@sallyport/std/error/failure';
import type { CallPriority } from '../../api/schemas/invocation.ts';
import type { WorkerLimits } from './workers/worker-limits.ts';

/**
 * Counts the waiting calls, and estimates their wait. The pipeline asks it whether a call may come in (PIPE-08); the
 * workers keep it up to date.
 */
export interface CallIntake {
  /** E3803 with a retry hint; undefined when there is room. Urgent calls are refused last. */
  refuses(priority: CallPriority): Failure | undefined;
  /** Seconds until a call that is accepted now ends; undefined while no call has been measured. */
  estimateSeconds(): number | undefined;
  /** Calls went into the queue. */
  noteQueued(calls: number): void;
  /** Changes the number of calls kept back because their agent's slots are taken. */
  notePostponed(calls: number): void;
  /** Sets the true length of the queue, and the number of working instances. */
  noteLoad(queued: number, instances?: number): void;
  /** Adds the duration of one call. */
  noteServed(ms: number): void;
  /** Number of queued calls, as far as known. */
  queued(): number;
}

/** Share of the limits at which calls of a priority are refused. */
const SHARE: Readonly<Record<CallPriority, number>> = { low: 0.8, normal: 0.9, high: 1 };
/** Weight of the newest call in the average. */
const NEWEST = 0.1;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;

/** Creates an intake with no waiting calls. */
export function createCallIntake({ slots, queueMax, waitMsMax }: WorkerLimits): CallIntake {
  let queued = 0;
  let postponed = 0;
  let instances = 1;
  let averageMs: number | undefined;
  const waitMs = (): number => ((queued + postponed) * (averageMs ?? 0)) / (slots * instances);
  return {
    refuses(priority) {
      const share = SHARE[priority];
      const waiting = queued + postponed;
      const estimatedMs = waitMs();
      if (waiting < queueMax * share && estimatedMs <= waitMsMax * share) return undefined;
      // Time after which as many calls have run as are too many now.
      const tooMany = Math.max(0, waiting - queueMax * share + 1);
      const retryAfterMs = Math.max(
        (tooMany * (averageMs ?? 0)) / (slots * instances),
        estimatedMs - waitMsMax * share,
      );
      const hint = Math.ceil(Math.min(Math.max(retryAfterMs, RETRY_MS_MIN), RETRY_MS_MAX));
      return failure(
        'E3803',
        `${waiting} calls wait already, for some ${Math.ceil(estimatedMs / 1000)} s. Try again in ${Math.ceil(hint / 1000)} s.`,
        { retryAfterMs: hint, details: { priority, waiting } },
      );
    },
    estimateSeconds() {
      return averageMs === undefined ? undefined : Math.ceil((waitMs() + averageMs) / 100) / 10;
    },
    noteQueued(calls) {
      queued += calls;
    },
    notePostponed(calls) {
      postponed += calls;
    },
    noteLoad(counted, working = instances) {
      queued = counted;
      instances = Math.max(1, working);
    },
    noteServed(ms) {
      averageMs = averageMs === undefined ? ms : averageMs + (ms - averageMs) * NEWEST;
    },
    queued: () => queued,
  };
}
