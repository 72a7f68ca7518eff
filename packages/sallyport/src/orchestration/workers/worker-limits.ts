import { integer, seconds } from '../../domain/settings/rows.ts';
import { STOP_SETTINGS } from '../../domain/settings/server-settings.ts';
import { defaultsOf, type ValuesOf } from '../../domain/settings/setting.ts';
import { CALL_SETTINGS } from '../../pipeline/parts.ts';

/** Settings of the workers of one instance. */
export const WORKER_SETTINGS = {
  slots: integer('workers.slots', {
    unit: 'calls',
    minimum: 1,
    default: 64,
    sentence: 'Asynchronous calls that this instance runs at once.',
  }),
  queueMax: integer('workers.queue_max', {
    unit: 'calls',
    minimum: 1,
    default: 10_000,
    sentence: 'Asynchronous calls that wait; more are refused with E3803.',
  }),
  waitMsMax: seconds('workers.wait_seconds_max', {
    minimum: 1,
    default: 600,
    sentence: 'Estimated wait beyond which asynchronous calls are refused with E3803.',
  }),
  roomMsMax: CALL_SETTINGS.laterTimeoutMsMax,
  leaseMs: seconds('workers.lease_seconds', {
    timed: true,
    minimum: 1,
    default: 10,
    sentence:
      'After this time without a sign of life an instance loses its calls to the others, and the slots of agents that it holds.',
  }),
  preemptionsMax: integer('workers.preemptions_max', {
    minimum: 0,
    default: 2,
    sentence: 'How often a call of low priority makes way for an urgent one at most.',
  }),
  callsPerAgentMax: CALL_SETTINGS.callsPerAgentMax,
  graceMs: STOP_SETTINGS.graceMs,
};

/** Limits of the workers of one instance. */
export interface WorkerLimits extends ValuesOf<typeof WORKER_SETTINGS> {
  /** Ms between beats, which renew leases and read requests of other instances. */
  readonly beatMs: number;
  /** Ms between sweeps for calls that nobody holds; each is moved by up to half of it. */
  readonly sweepMs: number;
  /** Most calls that one sweep takes up. */
  readonly sweepMax: number;
  /** Ms that a call without any worker so far has waited before a sweep takes it up. */
  readonly sweepIdleMs: number;
  /** Most calls kept back in this instance because their agent's slots are taken; the sweep finds others again. */
  readonly postponedMax: number;
  /** Ms that an urgent call waits for a free slot in any instance before another call makes way for it. */
  readonly preemptAfterMs: number;
}

export const WORKER_DEFAULTS: WorkerLimits = {
  ...defaultsOf(WORKER_SETTINGS),
  beatMs: 1_000,
  sweepMs: 15_000,
  sweepMax: 1_000,
  sweepIdleMs: 30_000,
  postponedMax: 10_000,
  preemptAfterMs: 50,
};
