import { type Failure, failure } from '@sallyport/std/error/failure';
import { messageOf } from '@sallyport/std/error/message-of';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import { stateAfterFailure } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { commitUnlessOver, rowEvent } from '../../pipeline/run.ts';
import type { ApprovalClosing, HeldClosing } from '../approval-store.port.ts';
import { type ApprovalState, keyOf } from './approvals-state.ts';
import { noteFact } from './events.ts';
import { notifyDecided } from './notify.ts';
import { digestOf, requestOf } from './pending.ts';

/** Decisions that one instance carries out at once; the next sweep takes the others. */
const AT_WORK_MAX = 1000;

/**
 * Carries out a closed approval: puts it on record, and ends the call or runs it. One instance does this at a time, and
 * an instance that finds it half done continues: the call's own row says whether something is left to do. Only a call
 * that waits for this very approval is touched.
 */
export async function carryOut(state: ApprovalState, closing: ApprovalClosing): Promise<void> {
  const { atWork } = state;
  const key = keyOf(closing.tenantId, closing.approvalId);
  if (atWork.has(key) || atWork.size >= AT_WORK_MAX) return;
  const work = carryOutOnce(state, closing, key).finally(() => atWork.delete(key));
  atWork.set(key, work);
  await work;
}

/** As `carryOut`, and waits where this instance carries the decision out already: a sweep may have found it first. */
export const carriedOut = (state: ApprovalState, closing: ApprovalClosing): Promise<void> =>
  state.atWork.get(keyOf(closing.tenantId, closing.approvalId)) ?? carryOut(state, closing);

async function carryOutOnce(state: ApprovalState, closing: ApprovalClosing, key: string): Promise<void> {
  const { store, leftOff, instanceId, limits } = state;
  const { tenantId, approvalId } = closing;
  // The claim counts as held until the store says otherwise, since an answer may be lost.
  if (leftOff.size < AT_WORK_MAX) leftOff.set(key, closing);
  if (await store.claim(tenantId, approvalId, instanceId, limits.leaseMs)) {
    try {
      if (await isCarriedOut(state, tenantId, approvalId)) await store.mark(tenantId, approvalId, 'finished');
    } finally {
      await store.release(tenantId, approvalId, instanceId);
    }
  }
  leftOff.delete(key);
}

/** False when the call still waits for this approval, or people have not been notified yet. */
async function isCarriedOut(state: ApprovalState, tenantId: string, approvalId: string): Promise<boolean> {
  const closing = await state.store.closing(tenantId, approvalId);
  if (closing === undefined) return true;
  if (!closing.noted) await note(state, closing);
  const waiting = await stillWaiting(state, closing);
  if (waiting !== undefined) {
    if (closing.outcome === 'approved') await resumeCall(state, closing, waiting);
    else await endCall(state, closing, waiting);
    if ((await stillWaiting(state, closing)) !== undefined) return false;
  }
  return notifyOf(state, closing);
}

/** True when people are notified already; otherwise the remaining work is done once they are. */
const notifyOf = (state: ApprovalState, closing: HeldClosing): Promise<boolean> =>
  notifyDecided(state, closing, () => carryOut(state, closing));

async function stillWaiting(
  { records }: ApprovalState,
  { tenantId, invocationId, approvalId }: ApprovalClosing,
): Promise<InvocationRecord | undefined> {
  const record = await records.findInvocation(tenantId, invocationId);
  return record !== undefined && requestOf(record)?.approvalId === approvalId ? record : undefined;
}

async function note(state: ApprovalState, closing: HeldClosing): Promise<void> {
  const { tenantId, approvalId, invocationId, outcome, by, approvers, reason, binding, parameters, given } = closing;
  const bound = given?.binding ?? binding;
  await noteFact(state, {
    type: outcome === 'expired' ? 'ai.agent.approval.expired' : 'ai.agent.approval.decided',
    id: `${approvalId}:closed`,
    approvalId,
    invocationId,
    binding: bound,
    data: {
      decision: outcome,
      by,
      // A name that is personal data is not written; its hash is.
      by_hash: sha256(by),
      binding_digest: digestOf(bound),
      ...(approvers.length === 0 ? {} : { approvers: [...approvers] }),
      ...(reason === undefined ? {} : { reason }),
      ...(parameters === undefined ? {} : { edited: true, input_hash_before: binding.inputHash }),
    },
  });
  await notifyOf(state, closing);
  await state.store.mark(tenantId, approvalId, 'noted');
}

/** The holder of the claim uses the approval; the claim is renewed as long as the call runs here. */
async function resumeCall(state: ApprovalState, closing: HeldClosing, record: InvocationRecord): Promise<void> {
  const { store, limits, instanceId, log } = state;
  const { tenantId, approvalId, invocationId, given } = closing;
  if (given === undefined) throw new Error(`the approval ${approvalId} was closed as approved without an approval`);
  await putEdit(state, closing, record);
  const renewal = setInterval(() => {
    store.claim(tenantId, approvalId, instanceId, limits.leaseMs).catch((cause: unknown) => {
      log.warn('approval-claim-not-renewed', { approval_id: approvalId, reason: String(cause) });
    });
  }, limits.leaseMs / 3).unref();
  try {
    await state.resume(tenantId, invocationId, given);
  } catch (thrown) {
    const reason = messageOf(thrown);
    log.warn('approved-call-not-resumed', { approval_id: approvalId, invocation_id: invocationId, reason });
  } finally {
    clearInterval(renewal);
  }
}

/** Edited arguments are in the row before the call resumes, so that a crash cannot bring the old ones back. */
async function putEdit({ ledger }: ApprovalState, closing: HeldClosing, record: InvocationRecord): Promise<void> {
  const { parameters } = closing;
  const { waiting } = record;
  if (parameters === undefined || waiting === undefined) return;
  if (canonicalJson(waiting.request.parameters ?? {}) === canonicalJson(parameters)) return;
  const request = { ...waiting.request, parameters };
  await commitUnlessOver(ledger, {
    record: { ...record, waiting: { ...waiting, request } },
    events: [],
    durability: 'synchronous',
  });
}

/** Ends a call that will never run. */
async function endCall({ ledger, clock }: ApprovalState, closing: HeldClosing, open: InvocationRecord): Promise<void> {
  const failed = failureFor(closing);
  const state = stateAfterFailure(failed);
  const now = clock.now();
  const { waiting: _waiting, metadata, ...row } = open;
  const record: InvocationRecord = {
    ...row,
    state,
    failure: failed,
    ...(metadata === undefined ? {} : { metadata: { ...metadata, completed_at: new Date(now).toISOString() } }),
  };
  const event = rowEvent(record, 'ai.agent.tool.failed', now, { approval_id: closing.approvalId, state });
  await commitUnlessOver(ledger, { record, events: [event], durability: 'synchronous' });
}

/** The failure for the caller: a denial differs from an approval that nobody answered (ORC-05). */
function failureFor({ outcome, approvalId, reason }: ApprovalClosing): Failure {
  const because = reason === undefined ? '' : ` Reason given: ${reason}`;
  const details = { approval_id: approvalId, ...(reason === undefined ? {} : { reason }) };
  if (outcome === 'denied')
    return failure('E3807', `An approver denied the call; it did not run.${because}`, { details });
  if (outcome === 'expired')
    return failure('E3808', 'Nobody decided on the call in time, so it did not run. Call again to ask again.', {
      details,
    });
  return failure('E3805', `The call was cancelled while it waited for a person; it did not run.${because}`, {
    details,
  });
}
