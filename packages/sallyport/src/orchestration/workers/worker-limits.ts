/** Bounds of the workers of one instance. */
export interface WorkerLimits {
  /** Calls that workers of this instance run at once. */
  readonly slots: number;
  /** Calls of one agent under way at once in this instance, synchronous ones included. */
  readonly callsPerAgentMax: number;
  /** How long a lease lasts that is not renewed, in ms. */
  readonly leaseMs: number;
  /** How often leases are renewed and word from others is read, in ms. */
  readonly beatMs: number;
  /** How often calls are looked for that nobody attends to, in ms; each turn is moved by up to half of it. */
  readonly sweepMs: number;
  /** Calls that one sweep takes up at most. */
  readonly sweepMax: number;
  /** How long a call has waited that never had a worker, before a sweep takes it up, in ms. */
  readonly sweepIdleMs: number;
  /** Calls that wait at most; more are refused with E3803. */
  readonly queueMax: number;
  /** Estimated wait beyond which calls are refused with E3803, in ms. */
  readonly waitMsMax: number;
  /** Calls kept back in this instance because their agent's slots are taken; beyond, the sweep finds them again. */
  readonly parkedMax: number;
  /** How long an accepted call waits for room that it does not find when its turn comes, from when it began to wait, in ms. */
  readonly roomMsMax: number;
  /** How often one call makes way for a more urgent one at most. */
  readonly preemptionsMax: number;
  /** How long an urgent call looks for a free slot anywhere before another makes way for it, in ms. */
  readonly preemptAfterMs: number;
  /** How long running calls may go on once the layer stops, in ms. */
  readonly graceMs: number;
}

export const WORKER_DEFAULTS: WorkerLimits = {
  slots: 64,
  callsPerAgentMax: 4,
  leaseMs: 10_000,
  beatMs: 1_000,
  sweepMs: 15_000,
  sweepMax: 1_000,
  sweepIdleMs: 30_000,
  queueMax: 10_000,
  waitMsMax: 600_000,
  parkedMax: 10_000,
  roomMsMax: 86_400_000,
  preemptionsMax: 2,
  preemptAfterMs: 50,
  graceMs: 10_000,
};
