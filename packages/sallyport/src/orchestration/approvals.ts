import type { Failure } from '@sallyport/std/error/failure';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import type { GivenApproval } from '../domain/invocation/waiting-call.ts';
import type { ApprovalQuestions } from '../pipeline/approval-questions.port.ts';
import type { HeldClosing, StoredDelegation, StoredRule, StoredVote } from './approval-store.port.ts';
import { APPROVAL_SETTINGS } from './approval-terms.ts';
import {
  APPROVAL_LIMITS,
  type ApprovalParts,
  type ApprovalState,
  type Approver,
  type AskingState,
  type DecidingParts,
  inBackground,
} from './approvals/approvals-state.ts';
import { ask, isAlwaysAllowed } from './approvals/ask.ts';
import { type Approval, approve, type Decided, type Decision, deny, withdraw } from './approvals/decide.ts';
import { type Answer, answer, delegate, endDelegation, type NewDelegation } from './approvals/delegate.ts';
import { isForClient } from './approvals/eligible.ts';
import { digestOf, findPending, type Pending, pendingOf, waitingRecords } from './approvals/pending.ts';
import { revokeRule } from './approvals/remember.ts';
import { createStandingRules } from './approvals/standing-rules.ts';
import { startSweeping, sweep } from './approvals/sweep.ts';
import { tellAsked } from './approvals/tell.ts';

export type { Answer, Approval, ApprovalParts, Approver, Decided, Decision, NewDelegation, Pending };
export { digestOf };

/** How long the end of the approvals waits for what is under way, in ms. */
const CLOSE_MS = 10_000;

/**
 * Where calls wait for a person (ORC-03, ORC-05, VIS-06): what the pipeline asks of it, and what people do with it. Every
 * method is safe to call on several instances at once.
 */
export interface Approvals extends ApprovalQuestions, AsyncDisposable {
  /** Reads the standing rules, and begins to look after what waits. Rejects with what the store throws. */
  start(): Promise<void>;
  /** Told of every record that a pipeline answers with: of a call that has just begun to wait people hear at once. */
  noticed(record: InvocationRecord): void;
  /** A tenant's approvals that wait, in order of acceptance; `limit` at most, behind `offset` others. */
  pending(tenantId: string, limit: number, offset: number): Promise<readonly Pending[]>;
  /** @returns E3809, E3817, E3808 when it does not wait (any more) */
  find(tenantId: string, approvalId: string): Promise<Pending | Failure>;
  /** Whether the user at the agent's own client may confirm this call. */
  isForClient(pending: Pending): boolean;
  /** The yeses so far. */
  votes(tenantId: string, approvalId: string): Promise<readonly StoredVote[]>;
  /** A tenant's approvals that are over, the latest first; for 90 days. */
  decided(tenantId: string, limit: number, offset: number): Promise<readonly HeldClosing[]>;
  /** What became of one. */
  outcome(tenantId: string, approvalId: string): Promise<HeldClosing | undefined>;
  /**
   * A yes. Answers once it is kept; the call goes on behind it.
   * @returns E3809 no such approval; E3817 decided already, or not what was shown; E3808 expired; E3213 may not decide;
   *   E3801 for a standing rule that cannot be; what an edit is refused with: the approval waits on then
   */
  approve(approval: Approval): Promise<Decided | Failure>;
  /** A no. Answers once the call has ended. @returns as `approve` */
  deny(decision: Decision): Promise<Decided | Failure>;
  /** An answer by the right that a notice brought. @returns as `approve`; E3809 for an unknown token */
  answer(answer: Answer): Promise<Decided | Failure>;
  /**
   * Ends a call that waits for a person, with E3805.
   * @returns false when it does not wait, or somebody decided first
   */
  withdraw(tenantId: string, invocationId: string, by: string, reason?: string): Promise<boolean>;
  /**
   * The yes with which a call ran that was cut off, for whoever runs it again: the same call, so the same yes. Undefined
   * when it had none, or that is too old by now.
   */
  yesOf(record: InvocationRecord): Promise<GivenApproval | undefined>;
  /** @returns E3213 without the role, E3801 for a delegation that cannot be */
  delegate(delegation: NewDelegation): Promise<StoredDelegation | Failure>;
  delegations(tenantId: string): Promise<readonly StoredDelegation[]>;
  /** @returns E3809 when there is none of this id that the approver may end */
  endDelegation(approver: Approver, id: string): Promise<StoredDelegation | Failure>;
  /** Standing rules of a tenant, the latest first. */
  rules(tenantId: string): readonly StoredRule[];
  /** Undefined when the tenant has none of this id. */
  revokeRule(approver: Approver, ruleId: string, reason?: string): Promise<StoredRule | undefined>;
  /** One look at everything that waits, as it is made all the time. Rejects with what the stores throw. */
  sweep(): Promise<void>;
  /** Resolves when nothing is under way in the background, and no notice is on its way. */
  idle(): Promise<void>;
  /** Why standing rules of other instances are not heard of; undefined when they are. */
  problem(): string | undefined;
}

/** The half that a pipeline asks: it is there before the pipeline, and decisions are made after it. */
export interface AskableApprovals extends ApprovalQuestions, Pick<Approvals, 'yesOf'> {
  /** All of the approvals. They know no standing rules, and nothing is looked after, until `start`. */
  deciding(parts: DecidingParts): Approvals;
}

/** Makes the approvals, as far as the pipeline needs them. */
export function createApprovals(parts: ApprovalParts): AskableApprovals {
  const asking = stateOf(parts);
  const ofPipeline: Omit<AskableApprovals, 'deciding'> = {
    standing: (question) => isAlwaysAllowed(asking, question),
    question: (question) => ask(asking, question),
    yesOf: (record) => yesOf(asking, record),
  };
  return {
    ...ofPipeline,
    deciding: (more) => ({ ...ofPipeline, ...decidingApprovals({ ...asking, ...more }, parts) }),
  };
}

function decidingApprovals(
  state: ApprovalState,
  parts: ApprovalParts,
): Omit<Approvals, keyof ApprovalQuestions | 'yesOf'> {
  const { store, clock, rules, background } = state;
  let sweeping: AsyncDisposable | undefined;
  return {
    async start() {
      // What an earlier life of this instance was at, nobody is at any more.
      await store.releaseAll(parts.instanceId);
      await rules.start();
      sweeping ??= startSweeping(state);
    },
    noticed(record) {
      if (record.waiting?.wait.for === 'approval' && record.state === 'AUTHORIZED')
        void inBackground(state, 'approval-not-told', () => tellAsked(state, record));
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
  const { store, clock, log } = parts;
  const limits = { ...APPROVAL_LIMITS, ...parts.limits };
  return {
    ...parts,
    limits,
    terms: parts.terms ?? [],
    notifiers: parts.notifiers ?? [],
    stillGood: parts.stillGood ?? (() => true),
    shownArguments: parts.shownArguments,
    clientReasons: parts.clientReasons ?? APPROVAL_SETTINGS.clientReasons.default,
    rules: createStandingRules({ store, clock, log, followMs: limits.followMs }),
    pendingCounts: new Map(),
    seen: new Map(),
    told: new Map(),
    atWork: new Set(),
    leftOff: new Map(),
    background: new Set(),
    sending: new Set(),
  };
}

/** What is begun meanwhile is waited for too. */
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

async function yesOf({ store, clock }: AskingState, record: InvocationRecord): Promise<GivenApproval | undefined> {
  const { waiting, tenantId, invocationId, state } = record;
  if (state !== 'EXECUTING' || waiting?.wait.for !== 'approval') return undefined;
  const closing = await store.closing(tenantId, waiting.wait.approval.approvalId);
  if (closing?.outcome !== 'approved' || closing.invocationId !== invocationId) return undefined;
  const { given } = closing;
  return given !== undefined && clock.now() < given.expiresAt ? given : undefined;
}
