import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { RootHolder } from '../../../api/schemas/capability-token.ts';
import type { ApprovalBinding } from '../../domain/invocation/waiting-call.ts';
import { isSamePerson } from '../../domain/principal/root-holder.ts';
import type { ApprovalClosing, ApprovalOutcome, StoredRule, StoredVote } from '../approval-store.port.ts';
import { type ApprovalState, type Approver, inBackground } from './approvals-state.ts';
import { carriedOut, carryOut } from './carry-out.ts';
import { personOf, rightToDecide } from './eligible.ts';
import { noteFact } from './events.ts';
import { decidedAlready, digestOf, findPending, noSuchApproval, type Pending } from './pending.ts';
import { makeRule, type Remember, refuseRule } from './remember.ts';

/** Members of every decision. */
export interface Decision {
  readonly approvalId: string;
  readonly approver: Approver;
  /** Digest of what the approver was shown; the decision is refused when it differs. */
  readonly digest?: string;
  readonly reason?: string;
}

/** One person's decision to approve. */
export interface Approval extends Decision {
  /** Replaces the original arguments; they are validated and authorised again (ORC-03). */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** A standing approval of later calls, made together with this one. */
  readonly remember?: Remember;
}

/** Result of a decision. */
export interface Decided {
  readonly approvalId: string;
  readonly invocationId: string;
  /** `pending`: more people have to approve. */
  readonly state: 'pending' | 'approved' | 'denied';
  /** The number of approvals of the same call so far, and the required number. */
  readonly votes: number;
  readonly quorum: number;
  /** Digest of what the approval is bound to. */
  readonly digest: string;
  readonly rule?: StoredRule;
}

/** What one person approves. */
interface ApprovedCall {
  readonly binding: ApprovalBinding;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/**
 * Approves. The call resumes once enough people have approved exactly the same; when two are last at the same time, one
 * of them closes the approval.
 */
export async function approve(state: ApprovalState, approval: Approval): Promise<Decided | Failure> {
  const { approvalId, approver, reason } = approval;
  const pending = await openFor(state, approval);
  if (isFailure(pending)) return pending;
  const right = await rightToDecide(state, pending, approver);
  if (isFailure(right)) return right;
  const approved = await approvedCall(state, pending, approval);
  if (isFailure(approved)) return approved;
  const refused = approval.remember && refuseRule(state, pending, approver, approval.remember);
  if (refused !== undefined) return refused;
  const votes = await state.store.vote({
    tenantId: approver.tenantId,
    approvalId,
    approver: approver.id,
    ...right,
    ...approved,
    votedAt: state.clock.now(),
    ...(reason === undefined ? {} : { reason }),
    ...(approver.claims === undefined ? {} : { claims: approver.claims }),
  });
  const counted = countedVotes(state, votes, approved.binding);
  const { quorum } = pending.terms;
  const digest = digestOf(approved.binding);
  const so = { approvalId, invocationId: pending.record.invocationId, votes: counted.length, quorum, digest };
  if (counted.length < quorum) {
    await noteVote(state, pending, approval, approved, right.inNameOf, so);
    return { ...so, state: 'pending' };
  }
  return closeApproved(state, pending, approval, approved, counted, so);
}

/** Denies. One denial is enough and ends the call; a denied call can never run. */
export async function deny(state: ApprovalState, decision: Decision): Promise<Decided | Failure> {
  const { approvalId, approver } = decision;
  const pending = await openFor(state, decision);
  if (isFailure(pending)) return pending;
  const right = await rightToDecide(state, pending, approver);
  if (isFailure(right)) return right;
  if (decision.digest !== undefined && decision.digest !== pending.digest) return notShown(approvalId);
  const closing = closingOf(state, pending, 'denied', approver.id, decision.reason);
  if (!(await state.store.close(closing))) return lost(state, closing);
  await done(state, closing);
  const { quorum } = pending.terms;
  const { invocationId } = pending.record;
  return { approvalId, invocationId, state: 'denied', votes: 0, quorum, digest: pending.digest };
}

/** Closes an approval that nobody decided in time. */
export async function expire(state: ApprovalState, pending: Pending): Promise<void> {
  const closing = closingOf(state, pending, 'expired', 'layer');
  if (await state.store.close(closing)) await done(state, closing);
}

/**
 * Ends a call that waits for a person, on request.
 * @returns false when it does not wait, or is decided already
 */
export async function withdraw(
  state: ApprovalState,
  pending: Pending,
  by: string,
  reason: string | undefined,
): Promise<boolean> {
  const closing = closingOf(state, pending, 'withdrawn', by, reason);
  if (!(await state.store.close(closing))) return false;
  await done(state, closing);
  return true;
}

async function openFor(state: ApprovalState, { approvalId, approver }: Decision): Promise<Pending | Failure> {
  const pending = await findPending(state, approver.tenantId, approvalId);
  if (isFailure(pending) || state.clock.now() < pending.request.expiresAt) return pending;
  await expire(state, pending);
  return decidedAlready({ approvalId, outcome: 'expired' });
}

/** What is approved: the original call, or the call as another approver or this one changed it. */
async function approvedCall(
  state: ApprovalState,
  { record, request, digest, tool }: Pending,
  { approvalId, digest: named, parameters, approver }: Approval,
): Promise<ApprovedCall | Failure> {
  if (tool === undefined)
    return failure('E3817', 'The version of the tool that was asked for is gone or was changed. Deny the call.');
  if (parameters === undefined) {
    if (named === undefined || named === digest) return { binding: request.binding };
    const votes = await state.store.votes(approver.tenantId, approvalId);
    const same = votes.find(({ binding }) => digestOf(binding) === named);
    return same === undefined ? notShown(approvalId) : approvedBy(same);
  }
  if (named !== undefined && named !== digest) return notShown(approvalId);
  const binding = await state.judgeEdit(record, parameters);
  if (isFailure(binding)) return binding;
  if (!isOfSameCall(binding, request.binding))
    return failure('E3817', 'The call would be another one with these arguments. Deny it, and have it asked again.');
  return binding.inputHash === request.binding.inputHash ? { binding: request.binding } : { binding, parameters };
}

const approvedBy = ({ binding, parameters }: StoredVote): ApprovedCall =>
  parameters === undefined ? { binding } : { binding, parameters };

/** An edit changes arguments, and the policies may have changed since. Nothing else may differ. */
const isOfSameCall = (one: ApprovalBinding, other: ApprovalBinding): boolean =>
  (['tenantId', 'agentDid', 'userDid', 'toolId', 'toolVersion', 'contentHash'] as const).every(
    (name) => one[name] === other[name],
  );

/**
 * Counts one vote for each person and right: votes for the same call whose credentials still count. A person is
 * identified by the holder of the root credential, under whatever name; a vote in another person's name uses up both
 * persons.
 */
function countedVotes(
  { stillGood }: ApprovalState,
  votes: readonly StoredVote[],
  binding: ApprovalBinding,
): readonly StoredVote[] {
  const wanted = digestOf(binding);
  const rights = new Set<string>();
  const counted: RootHolder[] = [];
  return votes.filter((vote) => {
    const { approver: id, lender, inNameOf, ...rest } = vote;
    if (digestOf(vote.binding) !== wanted || rights.has(inNameOf)) return false;
    if (vote.claims !== undefined && !stillGood(vote.claims)) return false;
    const persons = [personOf({ ...rest, id }), ...(lender === undefined ? [] : [lender])];
    if (persons.some((person) => counted.some((other) => isSamePerson(person, other)))) return false;
    rights.add(inNameOf);
    counted.push(...persons);
    return true;
  });
}

async function closeApproved(
  state: ApprovalState,
  pending: Pending,
  { approver, reason, remember }: Approval,
  { binding, parameters }: ApprovedCall,
  counted: readonly StoredVote[],
  so: Omit<Decided, 'state'>,
): Promise<Decided | Failure> {
  const closing: ApprovalClosing = {
    ...closingOf(state, pending, 'approved', approver.id, reason),
    approvers: counted.map((vote) => vote.approver),
    given: {
      approvalId: so.approvalId,
      binding,
      expiresAt: state.clock.now() + state.limits.validMs,
      by: counted.map((vote) => vote.approver).join(', '),
    },
    ...(parameters === undefined ? {} : { parameters }),
  };
  if (!(await state.store.close(closing))) return lost(state, closing);
  // The caller waits for the call; the approver does not.
  void inBackground(state, 'approval-not-carried-out', () => carryOut(state, closing));
  if (remember === undefined) return { ...so, state: 'approved' };
  const rule = await makeRule(state, pending, approver, binding, remember, reason);
  return { ...so, state: 'approved', rule };
}

/** The decision is final; the next sweep does what is not done now. */
const done = (state: ApprovalState, closing: ApprovalClosing): Promise<void> =>
  inBackground(state, 'approval-not-carried-out', () => carriedOut(state, closing));

function closingOf(
  { clock }: ApprovalState,
  { record, request }: Pending,
  outcome: ApprovalOutcome,
  by: string,
  reason?: string,
): ApprovalClosing {
  const { approvalId, binding, reason: asked, requestedAt: at, expiresAt: until } = request;
  return {
    tenantId: record.tenantId,
    approvalId,
    invocationId: record.invocationId,
    outcome,
    closedAt: clock.now(),
    by,
    approvers: [],
    binding,
    asked: { reason: asked, at, until },
    ...(reason === undefined ? {} : { reason }),
  };
}

async function lost(state: ApprovalState, { tenantId, approvalId }: ApprovalClosing): Promise<Failure> {
  const standing = await state.store.closing(tenantId, approvalId);
  return standing === undefined ? noSuchApproval(approvalId) : decidedAlready(standing);
}

const notShown = (approvalId: string): Failure =>
  failure('E3817', `The approval ${approvalId} is not about what you were shown. Look at it again before you decide.`);

function noteVote(
  state: ApprovalState,
  { record }: Pending,
  { approvalId, approver, reason }: Approval,
  { binding, parameters }: ApprovedCall,
  inNameOf: string,
  { votes, quorum, digest }: Omit<Decided, 'state'>,
): Promise<void> {
  return noteFact(state, {
    type: 'ai.agent.approval.voted',
    id: `${approvalId}:vote:${approver.id}:${digest}`,
    approvalId,
    invocationId: record.invocationId,
    binding,
    data: {
      by: approver.id,
      in_name_of: inNameOf,
      via: approver.via,
      votes,
      quorum,
      binding_digest: digest,
      ...(reason === undefined ? {} : { reason }),
      ...(parameters === undefined ? {} : { edited: true }),
    },
  });
}
