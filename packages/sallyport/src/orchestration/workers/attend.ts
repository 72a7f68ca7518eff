import { type Failure, failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import { type InvocationRecord, mayGoOn, nonceOf, waitsFor } from '../../domain/invocation/record.ts';
import type { GivenApproval } from '../../domain/invocation/waiting-call.ts';
import { type AgentSlot, agentKey, type Resumed, rowEvent, settleOpen } from '../../pipeline/run.ts';
import type { LeaseHolder, TakenLease } from '../call-lease-store.port.ts';
import { type HeldCall, isSafe } from './held-call.ts';
import type { WorkerParts } from './worker-parts.ts';

/** Result of working on a call. */
export type Attended =
  /** The call is over, or waits for a person. */
  | { readonly done: true }
  /** Another worker has the call, or will have it. */
  | { readonly left: true }
  /** The call waits until this agent has a slot. */
  | { readonly waitsForSlotOf: string }
  /** There is no room for it yet; to be tried again after this many ms. */
  | { readonly roomAfterMs: number; readonly record: InvocationRecord }
  /** This instance cannot run it; the next sweep offers it to all instances. */
  | { readonly leftToOthers: true }
  /** It made way for another call, and runs again later. */
  | { readonly putBack: InvocationRecord };

const DONE: Attended = { done: true };
const LEFT: Attended = { left: true };

/**
 * Takes the lease of a call, does what its row says, and gives the lease back. The row is read after the lease is
 * taken, since earlier knowledge may be outdated.
 */
export async function attend(
  parts: WorkerParts,
  me: LeaseHolder,
  held: HeldCall,
  approval?: GivenApproval,
): Promise<Attended> {
  const { leases, limits, running } = parts;
  // A run that lost its lease may still be under way here, and no second run may start beside it.
  if (running.find(held.tenantId, held.invocationId) !== undefined) return LEFT;
  try {
    const lease = await leases.take(held, me, limits.leaseMs);
    if (lease === undefined) return LEFT;
    held.lease = lease;
    held.extendedMs = lease.extendedMs;
    const end = await underLease(parts, me, held, lease, approval);
    if (held.isLost) return LEFT;
    const counted = 'putBack' in end || 'leftToOthers' in end;
    // A row under a lease later than the first cannot be written under numbers that begin anew.
    if (counted || (lease.fence > 1 && !(await isOver(parts, held))))
      await leases.putBack(held, me.owner, lease.fence, counted);
    else await leases.release(held, me.owner, lease.fence);
    return end;
  } catch (thrown) {
    // The row could not be read or ended: the lease expires, and another worker tries again.
    parts.log.warn('call-not-attended', { invocation_id: held.invocationId, reason: failureOf(thrown).message });
    return LEFT;
  }
}

async function isOver({ records }: WorkerParts, { tenantId, invocationId }: HeldCall): Promise<boolean> {
  const record = await records.findInvocation(tenantId, invocationId);
  return record === undefined || isFinal(record.state);
}

async function underLease(
  parts: WorkerParts,
  me: LeaseHolder,
  held: HeldCall,
  lease: TakenLease,
  approval: GivenApproval | undefined,
): Promise<Attended> {
  const { records, running, limits } = parts;
  const { tenantId, invocationId } = held;
  const record =
    lease.fence === 1
      ? await records.findInvocation(tenantId, invocationId)
      : await records.fenceInvocation(tenantId, invocationId, lease.fence);
  if (record === undefined || waitsFor(record) === undefined) return DONE;
  held.record = record;
  if (held.makesWay) return { putBack: record };
  if (lease.cancel !== undefined) held.cancel(lease.cancel);
  const mayHaveRun = lease.begun || record.state === 'EXECUTING';
  if (mayHaveRun && !mayGoOn(record)) return ended(parts, record, lease, UNKNOWN);
  if (held.cancelled !== undefined) {
    await endCancelled(parts, record, lease, held.cancelled.reason);
    return DONE;
  }
  if (held.controller.signal.aborted) return ended(parts, record, lease, failureOf(held.controller.signal.reason));
  const given = approval ?? (await approvalFor(parts, record));
  if (given === undefined && record.waiting?.wait.for === 'approval')
    return record.state === 'EXECUTING' ? ended(parts, record, lease, APPROVAL_EXPIRED) : DONE;
  const agent = agentKey(record);
  held.slot ??= running.slots.take(agent, limits.callsPerAgentMax);
  if (held.slot === undefined) return { waitsForSlotOf: agent };
  try {
    return await run(parts, me, held, held.slot, record, given);
  } finally {
    held.slot.free();
  }
}

const UNKNOWN: Failure = failure(
  'E3804',
  'The instance that ran the tool ended or did not answer any more. Find out what the tool did before you call again.',
);

const APPROVAL_EXPIRED: Failure = failure(
  'E3811',
  'The run of the call was cut off, and its approval expired before it could run again. Call again to ask again.',
);

/** Ends a call that does not run, or does not run again. */
async function ended(
  parts: WorkerParts,
  record: InvocationRecord,
  { fence }: TakenLease,
  failed: Failure,
): Promise<Attended> {
  await settleOpen(parts, { ...record, fence }, failed);
  return DONE;
}

/** Ends a call that was cancelled and does not run now, under its lease; its server may still have a task of it. */
export async function endCancelled(
  parts: WorkerParts,
  open: InvocationRecord,
  { fence, begun }: TakenLease,
  reason = '',
): Promise<void> {
  const because = reason === '' ? '' : ` Reason given: ${reason}`;
  const serverTask = open.waiting?.serverTask;
  const mayHaveRun = begun || open.state === 'EXECUTING' || serverTask !== undefined;
  const failed =
    mayHaveRun && !isSafe(open)
      ? failure('E3804', `The call was cancelled after its run was cut off. Find out what it did.${because}`)
      : failure('E3805', `The call was cancelled${mayHaveRun ? '' : ' before it ran'}.${because}`);
  await settleOpen(parts, { ...open, fence }, failed);
  if (serverTask !== undefined) await parts.cancelServerTask(open, serverTask);
}

async function approvalFor(
  { givenApproval }: WorkerParts,
  record: InvocationRecord,
): Promise<GivenApproval | undefined> {
  return record.waiting?.wait.for === 'approval' ? givenApproval(record) : undefined;
}

async function run(
  parts: WorkerParts,
  me: LeaseHolder,
  held: HeldCall,
  slot: AgentSlot,
  record: InvocationRecord,
  approval: GivenApproval | undefined,
): Promise<Attended> {
  const { clock, intake, leases, limits, runCall } = parts;
  const { waiting, invocationId, acceptedAt, door, state } = record;
  if (waiting === undefined || held.lease === undefined) return DONE;
  // An approval expires by itself, and then the call asks again.
  const mayWait = waiting.wait.for === 'approval' || clock.now() < waiting.since + limits.roomMsMax;
  const resumed: Resumed = {
    invocationId,
    nonce: nonceOf(record),
    acceptedAt,
    waiting,
    hold: held.hold(leases, me.owner, held.lease.fence, slot, mayWait),
    ...(state === 'EXECUTING' ? { cutOff: true } : {}),
    ...(approval === undefined ? {} : { approval }),
  };
  const startedAt = clock.monotonic();
  const { questions } = waiting;
  const caller = { door, signal: held.controller.signal, ...(questions === undefined ? {} : { questions }) };
  const { state: endState } = await runCall({ request: waiting.request, caller }, resumed);
  if (held.roomMs === undefined) intake.noteServed(clock.monotonic() - startedAt);
  // A run that did not count is reported as one that still executes.
  if (held.isLost || endState !== 'EXECUTING') return DONE;
  if (held.roomMs !== undefined && !held.makesWay) return { roomAfterMs: held.roomMs, record };
  if (held.isUnable && !held.makesWay) return { leftToOthers: true };
  if (!held.makesWay) return DONE;
  // Cut off for a more urgent call, or for the end of the layer (PIPE-08).
  const preempted = { instance_id: parts.instanceId, preemptions: held.lease.preemptions + 1, state: 'EXECUTING' };
  await parts.ledger.commit({
    events: [rowEvent(record, 'ai.agent.tool.preempted', clock.now(), preempted)],
    durability: 'asynchronous',
  });
  return { putBack: record };
}
