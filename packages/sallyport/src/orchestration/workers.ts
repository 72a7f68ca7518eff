import { randomUUID } from 'node:crypto';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { type CallKey, textOfCall } from '../domain/invocation/call-key.ts';
import { isFinal } from '../domain/invocation/lifecycle.ts';
import { type InvocationRecord, waitsFor } from '../domain/invocation/record.ts';
import type { GivenApproval } from '../domain/invocation/waiting-call.ts';
import type { HeldProgress, LeaseHolder } from './call-lease-store.port.ts';
import { endCancelled } from './workers/attend.ts';
import { createDispatch } from './workers/dispatch.ts';
import { atMost } from './workers/end/at-most.ts';
import { shownProgress } from './workers/heartbeat.ts';
import { regularBeat } from './workers/regular-beat.ts';
import { repeat } from './workers/repeat.ts';
import { sweep } from './workers/sweep.ts';
import { WORKER_DEFAULTS, WORKER_SETTINGS, type WorkerLimits } from './workers/worker-limits.ts';
import type { WorkerParts } from './workers/worker-parts.ts';

export { shownProgress, WORKER_DEFAULTS, WORKER_SETTINGS, type WorkerLimits, type WorkerParts };

/** Result of a request to end a call. */
export type CancelEnd =
  /** The call waited, and is over now. */
  | 'ended'
  /** The call runs, and its worker is notified. */
  | 'notified'
  /** The call runs in no instance that can be notified. */
  | 'unreachable';

/**
 * The workers of one instance: they run accepted calls, and take over calls of workers that ended (ORC-01, PIPE-07).
 */
export interface Workers extends AsyncDisposable {
  /** Starts: frees what an earlier life of this instance held, and looks for waiting calls. */
  start(): Promise<void>;
  /**
   * Notifies the workers of a record that the pipeline answers with. A call that waits for a worker runs in this
   * instance when it has a slot free and nothing waits longer; else it goes to the queue.
   * @param hasWaited true when the call waited before: it is on its way already
   */
  noticed(record: InvocationRecord, hasWaited: boolean): void;
  /**
   * Resumes a call that waits on record: at once when there is room, else through the queue.
   * @param approval the approval that the call waited for
   */
  enqueue(tenantId: string, invocationId: string, approval?: GivenApproval): Promise<void>;
  /** Ends a call that does not run in this instance. `record` is its row. */
  cancel(record: InvocationRecord, reason: string | undefined): Promise<CancelEnd>;
  /** Keeps the cancel of a call that runs here, for who takes it up if this instance ends first. Never rejects. */
  keepCancel(call: CallKey, reason: string | undefined): Promise<void>;
  /**
   * Extends the time of a running call.
   * @returns false when nobody runs it
   */
  extend(call: CallKey, ms: number): Promise<boolean>;
  /** Progress of a call that another instance runs; undefined when none is reported. */
  progressOf(call: CallKey): Promise<HeldProgress | undefined>;
  /** This instance can run more tools than before: calls that were left for lack of them are looked for soon. */
  lookAgain(): void;
  /** Number of calls that this instance holds. */
  readonly size: number;
  /**
   * Takes no new calls and lets running calls end for `graceMs`; then puts calls that may run again back for other
   * instances, and stops the rest. Idempotent.
   */
  close(): Promise<void>;
}

/** Tools often come in crowds: one sweep for all of them, this many ms after the first. */
const LOOK_AGAIN_MS = 50;

/** Most calls that the first sweep takes up after a crash. */
const FIRST_SWEEP_MAX = 10_000;

/** Creates the workers; nothing runs before `start`. */
export function createWorkers(parts: WorkerParts): Workers {
  const { leases, limits, running, instanceId, log } = parts;
  const me: LeaseHolder = { instanceId, owner: `${instanceId}/${randomUUID()}` };
  const cancelWaiting = (call: CallKey, reason: string | undefined): void =>
    void cancelIfWaiting(parts, call, (record) => cancel(parts, me, dispatch.calls, record, reason));
  const dispatch = createDispatch(parts, me, cancelWaiting);
  running.onCancelled(cancelWaiting);
  const stops: (() => Promise<void>)[] = [];
  let closing: Promise<void> | undefined;
  let looking: NodeJS.Timeout | undefined;

  const turn = (): Promise<void> => sweep(parts, me, limits.sweepIdleMs, limits.sweepMax);
  const close = async (): Promise<void> => {
    clearTimeout(looking);
    const [stopSweep, ...others] = stops;
    if (stopSweep !== undefined) await atMost(stopSweep(), 'the sweep', log);
    await dispatch.close();
    // The beat continues as long as calls run.
    for (const stop of others) await atMost(stop(), 'the beat', log);
    const forgotten = leases.forgetInstance(instanceId, me.owner).catch(() => undefined);
    await atMost(forgotten, 'the mark of the instance', log);
  };
  const closeOnce = (): Promise<void> => {
    closing ??= close();
    return closing;
  };
  return {
    async start() {
      await leases.endFormerLives(me);
      const regular = regularBeat(parts, me, dispatch.calls);
      await regular();
      const first = sweep(parts, me, 0, FIRST_SWEEP_MAX);
      const stopSweep = repeat(turn, () => limits.sweepMs * (0.5 + Math.random()));
      stops.push(() => stopSweep().then(() => first));
      stops.push(repeat(regular, () => limits.beatMs));
      dispatch.start();
    },
    noticed(record, hasWaited) {
      if (!hasWaited && waitsFor(record) === 'worker') dispatch.offer(record);
    },
    enqueue: (tenantId, invocationId, approval) => dispatch.enqueue({ tenantId, invocationId }, approval),
    cancel: (record, reason) => cancel(parts, me, dispatch.calls, record, reason),
    keepCancel: (call, reason) => keepCancel(parts, call, reason),
    async extend(call, ms) {
      if (!(await leases.notifyHolder(call, { extendMs: ms }))) return false;
      const held = dispatch.calls.get(textOfCall(call));
      if (held === undefined) return true;
      held.extendedMs += ms;
      running.find(call.tenantId, call.invocationId)?.toolRun.deadline?.extendTo(held.extendedMs);
      return true;
    },
    lookAgain() {
      if (closing !== undefined) return;
      looking ??= setTimeout(() => {
        looking = undefined;
        void turn();
      }, LOOK_AGAIN_MS).unref();
    },
    progressOf: async (call) => (await leases.find(call))?.progress,
    get size() {
      return dispatch.calls.size;
    },
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

async function keepCancel({ leases, log }: WorkerParts, call: CallKey, reason = ''): Promise<void> {
  try {
    await leases.notifyHolder(call, { cancel: reason });
  } catch (thrown) {
    log.warn('cancel-not-kept', { invocation_id: call.invocationId, reason: failureOf(thrown).message });
  }
}

/** Cancels a call whose cancel its last pass did not notice, because it had decided to wait. */
async function cancelIfWaiting(
  { records, log }: WorkerParts,
  { tenantId, invocationId }: CallKey,
  end: (record: InvocationRecord) => Promise<CancelEnd>,
): Promise<void> {
  try {
    const record = await records.findInvocation(tenantId, invocationId);
    if (record !== undefined && !isFinal(record.state) && waitsFor(record) !== undefined) await end(record);
  } catch (thrown) {
    log.warn('call-not-cancelled', { invocation_id: invocationId, reason: failureOf(thrown).message });
  }
}

async function cancel(
  parts: WorkerParts,
  me: LeaseHolder,
  calls: ReturnType<typeof createDispatch>['calls'],
  record: InvocationRecord,
  reason: string | undefined,
): Promise<CancelEnd> {
  const { leases, limits, queue, log } = parts;
  const held = calls.get(textOfCall(record));
  if (held !== undefined) {
    held.cancel(reason);
    await keepCancel(parts, held, reason);
    return 'notified';
  }
  if (waitsFor(record) === undefined) {
    // It runs for a waiting caller in another instance, which gets the cancel with its next beat.
    if (record.instanceId === parts.instanceId) return 'unreachable';
    await leases.notifyInstance(record, record.instanceId, reason ?? '');
    return 'notified';
  }
  // The call is ended under its lease, so that no worker begins it meanwhile.
  const lease = await leases.take(record, me, limits.leaseMs);
  if (lease === undefined)
    return (await leases.notifyHolder(record, { cancel: reason ?? '' })) ? 'notified' : 'unreachable';
  try {
    const open = await parts.records.fenceInvocation(record.tenantId, record.invocationId, lease.fence);
    if (open === undefined || waitsFor(open) === undefined) return 'unreachable';
    await endCancelled(parts, open, lease, reason);
    queue.remove(record).catch((thrown) => log.debug('job-not-removed', { reason: failureOf(thrown).message }));
    return 'ended';
  } finally {
    await leases.release(record, me.owner, lease.fence);
  }
}
