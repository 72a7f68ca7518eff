import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@sallyport/std/error/message-of';
import type { Log } from '../../telemetry/log.ts';
import type { ApprovalNotice, NoticeEnd, Notifier } from '../notifier.port.ts';

/** Thrown by a notifier for a notice that would fail again: it is not retried. */
export class NoticeRefused extends Error {}

/** Limits of one queue. */
export interface NoticeQueueLimits {
  /** Notices that may wait; one more is dropped, and logged. */
  readonly noticesMax: number;
  /** Notices in delivery at once. */
  readonly atOnceMax: number;
  /** How long one attempt may take, in ms. */
  readonly attemptMs: number;
  readonly attemptsMax: number;
  /** Pause after the first failed attempt, in ms; doubles with each further one, with a jitter of half of it. */
  readonly pauseMs: number;
  readonly pauseMsMax: number;
  /** Ms from the notice on, after which no further attempt begins. */
  readonly giveUpMs: number;
  /** How long closing waits for deliveries under way, in ms. */
  readonly closeGraceMs: number;
}

export const NOTICE_QUEUE_DEFAULTS: NoticeQueueLimits = {
  noticesMax: 1_000,
  atOnceMax: 4,
  attemptMs: 10_000,
  attemptsMax: 8,
  pauseMs: 1_000,
  pauseMsMax: 120_000,
  giveUpMs: 900_000,
  closeGraceMs: 2_000,
};

/** Dependencies of the notice queue. */
export interface NoticeQueueParts {
  readonly log: Log;
  readonly limits?: Partial<NoticeQueueLimits>;
}

/** A notifier that returns at once. */
export interface NoticeQueue extends Notifier, AsyncDisposable {
  /**
   * Queues the notice.
   * @returns once it was delivered or given up, or is left because the queue closes
   * @throws Error at once when it is dropped, because the queue is full
   */
  notify(notice: ApprovalNotice): Promise<NoticeEnd>;
}

interface Job {
  readonly notice: ApprovalNotice;
  readonly since: number;
  readonly ended: (end: NoticeEnd) => void;
  attempts: number;
  /** Monotonic ms. */
  due: number;
  running: boolean;
}

/** State of a queue. */
interface QueueState {
  readonly notifier: Notifier;
  readonly log: Log;
  readonly limits: NoticeQueueLimits;
  readonly jobs: Job[];
  running: number;
  timer: NodeJS.Timeout | undefined;
  closed: boolean;
}

/**
 * Puts a queue in front of a notifier: a slow or unavailable receiver delays neither a call nor a decision. Notices of
 * one approval are delivered in order; failed ones are retried with growing pauses until they are given up, which is
 * logged as an error.
 */
export function createNoticeQueue(notifier: Notifier, { log, limits: given }: NoticeQueueParts): NoticeQueue {
  const limits = { ...NOTICE_QUEUE_DEFAULTS, ...given };
  const state: QueueState = { notifier, log, limits, jobs: [], running: 0, timer: undefined, closed: false };
  return {
    name: notifier.name,
    notify(notice) {
      // Whoever looks next delivers it: a call may come to wait while the layer stops.
      if (state.closed) return Promise.resolve('left');
      if (state.jobs.length >= limits.noticesMax) {
        const why = `${limits.noticesMax} wait already`;
        log.error('approval-notice-dropped', { ...fieldsOf(notifier, notice), why });
        throw new Error(`The notice was dropped: ${why}.`);
      }
      const now = performance.now();
      const { promise, resolve: ended } = Promise.withResolvers<NoticeEnd>();
      state.jobs.push({ notice, since: now, ended, attempts: 0, due: now, running: false });
      pump(state);
      return promise;
    },
    [Symbol.asyncDispose]: () => close(state),
  };
}

/** Begins deliveries that are due, and sets a timer for the next ones. */
function pump(state: QueueState): void {
  const { jobs, limits } = state;
  clearTimeout(state.timer);
  if (state.closed) return;
  const now = performance.now();
  for (const job of startable(jobs)) {
    if (state.running >= limits.atOnceMax) return;
    if (job.due <= now) void attempt(state, job);
  }
  const next = Math.min(...[...startable(jobs)].map(({ due }) => due));
  // A notice alone does not keep the process alive.
  if (Number.isFinite(next)) state.timer = setTimeout(pump, Math.max(0, next - performance.now()), state).unref();
}

async function attempt(state: QueueState, job: Job): Promise<void> {
  const { notifier, jobs, limits } = state;
  job.running = true;
  job.attempts += 1;
  state.running += 1;
  try {
    await inTime(async () => notifier.notify(job.notice), limits.attemptMs);
    drop(jobs, job);
  } catch (thrown) {
    failed(state, job, thrown);
  } finally {
    job.running = false;
    state.running -= 1;
    pump(state);
  }
}

function failed({ notifier, log, jobs, limits }: QueueState, job: Job, thrown: unknown): void {
  const reason = messageOf(thrown);
  const fields = { ...fieldsOf(notifier, job.notice), attempts: job.attempts, reason };
  const pause = pauseAfter(job.attempts, limits);
  job.due = performance.now() + pause;
  const isOver = job.attempts >= limits.attemptsMax || job.due > job.since + limits.giveUpMs;
  if (thrown instanceof NoticeRefused || isOver) {
    drop(jobs, job);
    log.error('approval-notice-given-up', fields);
  } else log.warn('approval-notice-tried-again', { ...fields, pause_ms: Math.round(pause) });
}

/** Tries the notices once more that were never tried, within the grace; logs the rest. */
async function close(state: QueueState): Promise<void> {
  const { notifier, log, jobs, limits } = state;
  const until = performance.now() + limits.closeGraceMs;
  while (jobs.some(({ attempts, running }) => running || attempts === 0) && performance.now() < until) await sleep(10);
  state.closed = true;
  clearTimeout(state.timer);
  if (jobs.length > 0) log.error('approval-notices-not-sent', { notifier: notifier.name, notices: jobs.length });
  for (const { ended } of jobs.splice(0)) ended('left');
}

/** The first job of each approval, unless that job is running. */
function* startable(jobs: readonly Job[]): Generator<Job> {
  const seen = new Set<string>();
  for (const job of [...jobs]) {
    const key = `${job.notice.tenantId}\n${job.notice.approvalId}`;
    if (!seen.has(key) && !job.running) yield job;
    seen.add(key);
  }
}

function drop(jobs: Job[], job: Job): void {
  const at = jobs.indexOf(job);
  if (at >= 0) jobs.splice(at, 1);
  job.ended('over');
}

function pauseAfter(attempts: number, { pauseMs, pauseMsMax }: NoticeQueueLimits): number {
  const full = Math.min(pauseMsMax, pauseMs * 2 ** (attempts - 1));
  return full / 2 + (Math.random() * full) / 2;
}

async function inTime(work: () => Promise<unknown>, ms: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`It took longer than ${ms} ms.`)), ms);
  try {
    await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

const fieldsOf = ({ name }: Notifier, { kind, tenantId, approvalId }: ApprovalNotice): Record<string, unknown> => ({
  notifier: name,
  kind,
  tenant_id: tenantId,
  approval_id: approvalId,
});
