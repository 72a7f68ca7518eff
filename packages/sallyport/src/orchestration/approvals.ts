import type { Failure } from '@sallyport/std/error/failure';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import type { GivenApproval } from '../domain/invocation/waiting-call.ts';
import type { ApprovalQuestions } from '../pipeline/approval-questions.port.ts';
import type { HeldClosing, StoredDelegation, StoredRule, StoredVote } from './approval-store.port.ts';
import {
  type ApprovalParts,
  type ApprovalState,
  type Approver,
  type AskingState,
  type DecidingParts,
  inBackground,
} from './approvals/approvals-state.ts';
import { ask, standingApproval } from './approvals/ask.ts';
import { type Approval, approve, type Decided, type Decision, deny, withdraw } from './approvals/decide.ts';
import { type Answer, answer, delegate, endDelegation, type NewDelegation } from './approvals/delegate.ts';
import { isForClient } from './approvals/eligible.ts';
import { notifyAsked } from './approvals/notify.ts';
import { digestOf, findPending, type Pending, pendingOf, requestOf, waitingRecords } from './approvals/pending.ts';
import { revokeRule } from './approvals/remember.ts';
import { createStandingRules } from './approvals/standing-rules.ts';
import { startSweeping, sweep } from './approvals/sweep.ts';

export type { Answer, Approval, ApprovalParts, Approver, Decided, Decision, NewDelegation, Pending };
export { digestOf };

/** How long closing waits for work under way, in ms. */
const CLOSE_MS = 10_000;

/**
 * The approvals of calls that wait for a person (ORC-03, ORC-05, VIS-06): the questions of the pipeline and the
 * decisions of people. Every method is safe to call on several instances at once.
 */
export interface Approvals extends ApprovalQuestions, AsyncDisposable {
  /** Reads the standing rules, and begins to sweep the waiting approvals. Rejects with what the store throws. */
  start(): Promise<void>;
  /**
   * Receives every record that a pipeline answers with: people are notified at once of a call that has just begun to
   * wait.
   */
  noticed(record: InvocationRecord): void;
  /** A tenant's pending approvals, in order of acceptance; `limit` at most, after skipping `offset`. */
  pending(tenantId: string, limit: number, offset: number): Promise<readonly Pending[]>;
  /** @returns E3809, E3817, E3808 when it is not pending */
  find(tenantId: string, approvalId: string): Promise<Pending | Failure>;
  /** True when the user at the agent's own client may confirm this call. */
  isForClient(pending: Pending): boolean;
  /** The votes so far. */
  votes(tenantId: string, approvalId: string): Promise<readonly StoredVote[]>;
  /** A tenant's ended approvals, latest first; kept for 90 days. */
  decided(tenantId: string, limit: number, offset: number): Promise<readonly HeldClosing[]>;
  /** The end of one approval. */
  outcome(tenantId: string, approvalId: string): Promise<HeldClosing | undefined>;
  /**
   * Approves. Resolves once the vote is stored; the call resumes after that.
   * @returns E3809 no such approval; E3817 decided already, or not what was shown; E3808 expired; E3213 may not decide;
   *   E3801 for an invalid standing rule; the refusal of edited arguments, after which the approval stays pending
   */
  approve(approval: Approval): Promise<Decided | Failure>;
  /** Denies. Resolves once the call has ended. @returns as `approve` */
  deny(decision: Decision): Promise<Decided | Failure>;
  /** Decides by the one-time token of a notice. @returns as `approve`; E3809 for an unknown token */
  answer(answer: Answer): Promise<Decided | Failure>;
  /**
   * Ends a call that waits for a person, with E3805.
   * @returns false when it does not wait, or was decided first
   */
  withdraw(tenantId: string, invocationId: string, by: string, reason?: string): Promise<boolean>;
  /**
   * The approval of a call that was cut off while it ran, with which the same call may run again. Undefined when it had
   * none, or when that is too old by now.
   */
  givenApproval(record: InvocationRecord): Promise<GivenApproval | undefined>;
  /** @returns E3213 without the role, E3801 for an invalid delegation */
  delegate(delegation: NewDelegation): Promise<StoredDelegation | Failure>;
  delegations(tenantId: string): Promise<readonly StoredDelegation[]>;
  /** @returns E3809 when there is no delegation of this id that the approver may end */
  endDelegation(approver: Approver, id: string): Promise<StoredDelegation | Failure>;
  /** Standing rules of a tenant, the latest first. */
  rules(tenantId: string): readonly StoredRule[];
  /** Undefined when the tenant has none of this id. */
  revokeRule(approver: Approver, ruleId: string, reason?: string): Promise<StoredRule | undefined>;
  /** One sweep over all pending approvals, as made periodically. Rejects with what the stores throw. */
  sweep(): Promise<void>;
  /** Resolves when no background work and no notice is under way. */
  idle(): Promise<void>;
  /** Why the standing rules of other instances cannot be read; undefined when they can. */
  problem(): string | undefined;
}

/** The half that the pipeline uses: it exists before the pipeline; decisions are added after it. */
export interface AskableApprovals extends ApprovalQuestions, Pick<Approvals, 'givenApproval'> {
  /** The complete approvals. Until `start` they know no standing rules and do not sweep. */
  deciding(parts: DecidingParts): Approvals;
}

/** Creates the half of the approvals that the pipeline needs. */
export function createApprovals(parts: ApprovalParts): AskableApprovals {
  const asking = stateOf(parts);
  const ofPipeline: Omit<AskableApprovals, 'deciding'> = {
    standing: (question) => standingApproval(asking, question),
    question: (question) => ask(asking, question),
    givenApproval: (record) => givenApproval(asking, record),
  };
  return {
    ...ofPipeline,
    deciding: (more) => ({ ...ofPipeline, ...decidingApprovals({ ...asking, ...more }, parts) }),
  };
}

function decidingApprovals(
  state: ApprovalState,
  parts: ApprovalParts,
): Omit<Approvals, keyof ApprovalQuestions | 'givenApproval'> {
  const { store, clock, rules, background } = state;
  let sweeping: AsyncDisposable | undefined;
  return {
    async start() {
      // Claims of an earlier life of this instance have no holder any more.
      await store.releaseAll(parts.instanceId);
      await rules.start();
      sweeping ??= startSweeping(state);
    },
    noticed(record) {
      if (requestOf(record) !== undefined)
        void inBackground(state, 'approvers-not-notified', () => notifyAsked(state, record));
    },
    pending: (tenantId, limit, offset) => listPending(state, tenantId, limit, offset),
    find: (tenantId, approvalId) => findPending(state, tenantId, approvalId),
    isForClient: (pending) => isForClient(state, pending),
    votes: (tenantId, approvalId) => store.votes(tenantId, approvalId),
    decided: (tenantId, limit, offset) => store.closings(tenantId, limit, offset),
    outcome: (tenantId, approvalId) => store.closing(tenantId, approvalId),
    approve: (approval) => approve(state, approval),
    deny: (decision) => deny(state, decision),
    answer: (given) => answer(state, given),
    withdraw: (tenantId, invocationId, by, reason) => withdrawCall(state, tenantId, invocationId, by, reason),
    delegate: (delegation) => delegate(state, delegation),
    delegations: (tenantId) => store.delegations(tenantId, clock.now()),
    endDelegation: (approver, id) => endDelegation(state, approver, id),
    rules: (tenantId) => rules.list(tenantId),
    revokeRule: (approver, ruleId, reason) => revokeRule(state, approver, ruleId, reason),
    sweep: () => sweep(state),
    idle: () => idle(background, state.sending),
    problem: () => rules.problem(),
    async [Symbol.asyncDispose]() {
      await sweeping?.[Symbol.asyncDispose]();
      await rules[Symbol.asyncDispose]();
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, CLOSE_MS).unref();
      await Promise.race([idle(background), late]);
      clearTimeout(timer);
    },
  };
}

function stateOf(parts: ApprovalParts): AskingState {
  const { store, clock, log, limits } = parts;
  return {
    ...parts,
    rules: createStandingRules({ store, clock, log, followMs: limits.followMs }),
    pendingCounts: new Map(),
    seen: new Map(),
    notified: new Map(),
    atWork: new Map(),
    leftOff: new Map(),
    background: new Set(),
    sending: new Set(),
  };
}

/** Waits also for work that begins meanwhile. */
async function idle(...underWay: readonly ReadonlySet<Promise<void>>[]): Promise<void> {
  while (underWay.some(({ size }) => size > 0)) await Promise.all(underWay.flatMap((each) => [...each]));
}

async function listPending(
  state: ApprovalState,
  tenantId: string,
  limit: number,
  offset: number,
): Promise<readonly Pending[]> {
  const found: Pending[] = [];
  let passed = 0;
  for await (const record of waitingRecords(state, tenantId)) {
    const pending = pendingOf(state, record);
    if (pending === undefined || state.clock.now() >= pending.request.expiresAt) continue;
    if (passed++ >= offset) found.push(pending);
    if (found.length >= limit) break;
  }
  return found;
}

async function withdrawCall(
  state: ApprovalState,
  tenantId: string,
  invocationId: string,
  by: string,
  reason: string | undefined,
): Promise<boolean> {
  const record = await state.records.findInvocation(tenantId, invocationId);
  const pending = record === undefined ? undefined : pendingOf(state, record);
  return pending !== undefined && withdraw(state, pending, by, reason);
}

async function givenApproval(
  { store, clock }: AskingState,
  record: InvocationRecord,
): Promise<GivenApproval | undefined> {
  const { waiting, tenantId, invocationId, state } = record;
  if (state !== 'EXECUTING' || waiting?.wait.for !== 'approval') return undefined;
  const closing = await store.closing(tenantId, waiting.wait.approval.approvalId);
  if (closing?.outcome !== 'approved' || closing.invocationId !== invocationId) return undefined;
  const { given } = closing;
  return given !== undefined && clock.now() < given.expiresAt ? given : undefined;
}
