import { randomBytes } from 'node:crypto';
import { KiB } from '@sallyport/std/bytes';
import { messageOf } from '@sallyport/std/error/message-of';
import { sha256 } from '@sallyport/std/sha256';
import { judgedArguments } from '../../domain/invocation/call-environment.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { ApprovalClosing, NoticeKey } from '../approval-store.port.ts';
import { levelOf } from '../approval-terms.ts';
import type { ApprovalNotice, NoticeEnd, NotifiedApprover, Notifier } from '../notifier.port.ts';
import { type ApprovalState, keyOf } from './approvals-state.ts';
import { noteFact } from './events.ts';
import { digestOf, type Pending, pendingOf } from './pending.ts';

/** How long the delivery of a notice may take, ms; a notifier that never settles counts as failed. */
const NOTIFY_MS = 20 * 60_000;
/**
 * Notices in delivery at once; others are sent later. More than one notifier keeps waiting, so that none holds up
 * others.
 */
const NOTICES_MAX = 2_000;
/** Level that stands for the notice of a decision. */
const DECIDED_LEVEL = -1;
/** Characters of arguments that a notice shows. */
const ARGUMENTS_MAX = 4 * KiB;
/** Prefix of every answer token, so that secret scanners find it. */
export const ANSWER_PREFIX = 'spa_';
/** 256 bits: nobody guesses one, so a plain hash keeps it. */
const SECRET_BYTES = 32;

/**
 * Notifies people of a question, and of its escalation when that is due: each notice once across all instances, and on
 * record before it is sent.
 */
export async function notifyPending(state: ApprovalState, pending: Pending): Promise<void> {
  const { record, request, level } = pending;
  const key = keyOf(record.tenantId, request.approvalId);
  const notified = state.notified.get(key) ?? -1;
  if (notified < 0 && !(await notifyLevel(state, pending, 0))) return;
  if (level > Math.max(notified, 0) && !(await notifyLevel(state, pending, level))) return;
  state.notified.set(key, Math.max(notified, level));
}

/** Notifies people of a call that has just begun to wait. */
export async function notifyAsked(state: ApprovalState, record: InvocationRecord): Promise<void> {
  const pending = pendingOf(state, record);
  if (pending !== undefined) await notifyPending(state, pending);
}

/** False while another instance sends it, or this one has too many notices in delivery. */
async function notifyLevel(state: ApprovalState, pending: Pending, level: number): Promise<boolean> {
  const { record, request, terms } = pending;
  const { tenantId, invocationId } = record;
  const { approvalId, binding, reason } = request;
  const { store, limits } = state;
  if (isFull(state)) return false;
  const key = { tenantId, approvalId, invocationId, level };
  const claimed = await store.claimNotice(key, limits.leaseMs);
  if (claimed !== 'taken') return claimed === 'notified';
  const { notified } = levelOf(terms, level);
  await noteFact(state, {
    type: level === 0 ? 'ai.agent.approval.requested' : 'ai.agent.approval.escalated',
    id: `${approvalId}:level-${level}`,
    approvalId,
    invocationId,
    binding,
    data: {
      reason,
      level,
      approvers: [...notified],
      quorum: terms.quorum,
      terms: terms.name,
      binding_digest: pending.digest,
      expires_at: new Date(request.expiresAt).toISOString(),
    },
  });
  if (state.notifiers.length === 0) await store.noticeDelivered(tenantId, approvalId, level);
  else {
    const approvers = await Promise.all(notified.map((id) => withAnswerToken(state, pending, id)));
    deliver(state, key, { ...noticeOf(state, pending), kind: level === 0 ? 'asked' : 'escalated', level, approvers });
  }
  return true;
}

/** Adds one-time answer tokens for approvers without a credential of their own, which are addresses. */
async function withAnswerToken(
  { store }: ApprovalState,
  { record, request }: Pending,
  id: string,
): Promise<NotifiedApprover> {
  if (!isAddress(id)) return { id };
  const answerToken = ANSWER_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
  const { approvalId, expiresAt } = request;
  await store.addLink({ hash: sha256(answerToken), tenantId: record.tenantId, approvalId, approver: id, expiresAt });
  return { id, answerToken };
}

const isAddress = (id: string): boolean => id.includes(':') && !id.startsWith('role:') && !id.startsWith('did:');

function noticeOf(
  { shownArguments }: ApprovalState,
  { record, request, digest, waiting }: Pending,
): Omit<ApprovalNotice, 'kind' | 'level' | 'approvers'> {
  const { binding, approvalId, reason, prompt, requestedAt, expiresAt } = request;
  const judged = judgedArguments(waiting.request.parameters ?? {}, waiting.request);
  return {
    tenantId: record.tenantId,
    approvalId,
    invocationId: record.invocationId,
    toolId: binding.toolId,
    toolVersion: binding.toolVersion,
    agentDid: binding.agentDid,
    ...(binding.userDid === undefined ? {} : { userDid: binding.userDid }),
    ...(record.sideEffect === undefined ? {} : { sideEffect: record.sideEffect }),
    reason,
    ...(binding.question === undefined ? {} : { question: binding.question }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(shownArguments === undefined ? {} : argumentsIn(shownArguments(judged))),
    bindingDigest: digest,
    requestedAt,
    expiresAt,
  };
}

/** A person who decides on cut arguments has to know that they are cut. */
function argumentsIn(text: string): Pick<ApprovalNotice, 'argumentsText' | 'argumentsLength'> {
  if (text.length <= ARGUMENTS_MAX) return { argumentsText: text };
  return { argumentsText: text.slice(0, ARGUMENTS_MAX), argumentsLength: text.length };
}

/**
 * Notifies people of a decision, once across all instances.
 * @param onNotified called when the notice was delivered, if that is later
 * @returns true when it was delivered already
 */
export async function notifyDecided(
  state: ApprovalState,
  closing: ApprovalClosing,
  onNotified: () => Promise<void>,
): Promise<boolean> {
  if (state.notifiers.length === 0) return true;
  if (isFull(state)) return false;
  const { tenantId, approvalId, invocationId } = closing;
  const key = { tenantId, approvalId, invocationId, level: DECIDED_LEVEL };
  const claimed = await state.store.claimNotice(key, state.limits.leaseMs);
  if (claimed === 'taken') deliver(state, key, decidedNotice(closing), onNotified);
  return claimed === 'notified';
}

function decidedNotice(closing: ApprovalClosing): ApprovalNotice {
  const { tenantId, approvalId, invocationId, binding, outcome, by, reason, asked } = closing;
  return {
    kind: outcome === 'expired' ? 'expired' : 'decided',
    tenantId,
    approvalId,
    invocationId,
    toolId: binding.toolId,
    toolVersion: binding.toolVersion,
    agentDid: binding.agentDid,
    ...(binding.userDid === undefined ? {} : { userDid: binding.userDid }),
    reason: asked.reason,
    bindingDigest: digestOf(binding),
    requestedAt: asked.at,
    expiresAt: asked.until,
    level: 0,
    approvers: [],
    decision: { outcome, by, ...(reason === undefined ? {} : { reason }) },
  };
}

const isFull = ({ sending }: ApprovalState): boolean => sending.size >= NOTICES_MAX;

/**
 * Delivers a notice in the background. It is marked as delivered only afterwards: after a crash, or an end of the
 * layer, before that, the next sweep finds the claim expired and delivers the notice again.
 */
function deliver(state: ApprovalState, key: NoticeKey, notice: ApprovalNotice, onNotified?: () => Promise<void>): void {
  const { store, limits, notifiers, sending, log } = state;
  const failed = (thrown: unknown): void =>
    log.warn('approval-notice-not-kept', { approval_id: key.approvalId, reason: String(thrown) });
  const work = async (): Promise<void> => {
    const ends = Promise.all(notifiers.map((notifier) => sent(state, notifier, notice)));
    const renewal = setInterval(() => void store.claimNotice(key, 0).catch(failed), limits.leaseMs / 3).unref();
    const isLeft = (await ends).includes('left');
    clearInterval(renewal);
    if (isLeft) return;
    await store.noticeDelivered(key.tenantId, key.approvalId, key.level);
    await onNotified?.();
  };
  const done = work()
    .catch(failed)
    .finally(() => sending.delete(done));
  sending.add(done);
}

async function sent({ log }: ApprovalState, notifier: Notifier, notice: ApprovalNotice): Promise<NoticeEnd> {
  try {
    return await bounded(async () => notifier.notify(notice));
  } catch (thrown) {
    const reason = messageOf(thrown);
    log.error('approval-notice-failed', { notifier: notifier.name, approval_id: notice.approvalId, reason });
    return 'over';
  }
}

async function bounded(work: () => Promise<unknown>): Promise<NoticeEnd> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it took longer than ${NOTIFY_MS} ms`)), NOTIFY_MS).unref();
  try {
    return (await Promise.race([work(), late])) === 'left' ? 'left' : 'over';
  } finally {
    clearTimeout(timer);
  }
}
