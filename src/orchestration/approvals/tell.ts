import { randomBytes } from 'node:crypto';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { KiB } from '../../std/bytes.ts';
import { sha256 } from '../../std/sha256.ts';
import type { ApprovalClosing } from '../approval-store.port.ts';
import { levelOf } from '../approval-terms.ts';
import type { ApprovalNotice, NotifiedApprover } from '../notifier.port.ts';
import { type DeskState, inBackground, keyOf } from './desk-state.ts';
import { noteFact } from './events.ts';
import { digestOf, type Pending, pendingOf } from './pending.ts';

/** How long one notifier is waited for. */
const NOTIFY_MS = 10_000;
/** Notices on their way at once; more are left out, and logged. */
const NOTICES_MAX = 500;
/** Characters of arguments that a notice shows. */
const ARGUMENTS_MAX = 4 * KiB;
/** What every answer token begins with, so that scanners of secrets find it. */
export const ANSWER_PREFIX = 'spa_';
/** 256 bits: nobody guesses one, so a plain hash keeps it. */
const SECRET_BYTES = 32;

/**
 * Tells people of a question, and of its escalation when that is due: each once among all instances, on record before
 * anybody hears of it.
 */
export async function tellPending(state: DeskState, pending: Pending): Promise<void> {
  const { record, request, level } = pending;
  const key = keyOf(record.tenantId, request.approvalId);
  const told = state.told.get(key) ?? -1;
  if (told < 0 && !(await tellLevel(state, pending, 0))) return;
  if (level > Math.max(told, 0) && !(await tellLevel(state, pending, level))) return;
  state.told.set(key, Math.max(told, level));
}

/** Tells of a call that has just begun to wait. */
export async function tellAsked(state: DeskState, record: InvocationRecord): Promise<void> {
  const pending = pendingOf(state, record);
  if (pending !== undefined) await tellPending(state, pending);
}

/** False while another instance is at it. */
async function tellLevel(state: DeskState, pending: Pending, level: number): Promise<boolean> {
  const { record, request, terms } = pending;
  const { tenantId, invocationId } = record;
  const { approvalId, binding, reason } = request;
  const { store, limits } = state;
  const claimed = await store.claimNotice({ tenantId, approvalId, invocationId, level }, limits.leaseMs);
  if (claimed !== 'taken') return claimed === 'told';
  const { told } = levelOf(terms, level);
  await noteFact(state, {
    type: level === 0 ? 'ai.agent.approval.requested' : 'ai.agent.approval.escalated',
    id: `${approvalId}:level-${level}`,
    approvalId,
    invocationId,
    binding,
    data: {
      reason,
      level,
      approvers: [...told],
      quorum: terms.quorum,
      terms: terms.name,
      binding_digest: pending.digest,
      expires_at: new Date(request.expiresAt).toISOString(),
    },
  });
  if (state.notifiers.length > 0) {
    const approvers = await Promise.all(told.map((id) => withAnswerToken(state, pending, id)));
    send(state, { ...noticeOf(state, pending), kind: level === 0 ? 'asked' : 'escalated', level, approvers });
  }
  await store.noticeTold(tenantId, approvalId, level);
  return true;
}

/** Those who have no credential of their own, being addresses, get a right to answer once. */
async function withAnswerToken(
  { store }: DeskState,
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
  { shownArguments }: DeskState,
  { record, request, digest, waiting }: Pending,
): Omit<ApprovalNotice, 'kind' | 'level' | 'approvers'> {
  const { binding, approvalId, reason, prompt, requestedAt, expiresAt } = request;
  const { parameters = {} } = waiting.request;
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
    ...(prompt === undefined ? {} : { prompt }),
    ...(shownArguments === undefined ? {} : { argumentsText: shownArguments(parameters).slice(0, ARGUMENTS_MAX) }),
    bindingDigest: digest,
    requestedAt,
    expiresAt,
  };
}

/** Tells what became of an approval. */
export function tellDecided(state: DeskState, closing: ApprovalClosing): void {
  if (state.notifiers.length === 0) return;
  const { tenantId, approvalId, invocationId, binding, outcome, by, reason, asked } = closing;
  send(state, {
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
  });
}

function send(state: DeskState, notice: ApprovalNotice): void {
  const { notifiers, background, log } = state;
  for (const notifier of notifiers) {
    if (background.size >= NOTICES_MAX) {
      log.warn('approval-notice-left-out', { notifier: notifier.name, approval_id: notice.approvalId });
      continue;
    }
    void inBackground(state, 'approval-notice-failed', () => bounded(async () => notifier.notify(notice)));
  }
}

async function bounded(work: () => Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it took longer than ${NOTIFY_MS} ms`)), NOTIFY_MS).unref();
  try {
    await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
