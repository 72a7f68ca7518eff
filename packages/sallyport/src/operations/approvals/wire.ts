import { isoTime } from '@sallyport/std/iso-time';
import type {
  Approval,
  ApprovalDecision,
  ApprovalDelegation,
  ApprovalDetail,
  ApprovalRule,
} from '../../../api/schemas/calls/approvals.ts';
import type { ApprovalBinding } from '../../domain/invocation/waiting-call.ts';
import type { HeldClosing, StoredDelegation, StoredRule, StoredVote } from '../../orchestration/approval-store.port.ts';
import { levelOf } from '../../orchestration/approval-terms.ts';
import { type Decided, digestOf, type Pending } from '../../orchestration/approvals.ts';

/** A pending approval. */
export function pendingApprovalOf({ record, request, digest, terms, level }: Pending): Approval {
  const { approvalId, reason, binding, prompt, requestedAt, expiresAt } = request;
  return {
    approval_id: approvalId,
    invocation_id: record.invocationId,
    state: 'pending',
    ...boundTo(binding),
    ...(record.sideEffect === undefined ? {} : { side_effect_policy: record.sideEffect }),
    reason,
    ...(prompt === undefined ? {} : { prompt }),
    requested_at: isoTime(requestedAt),
    expires_at: isoTime(expiresAt),
    binding_digest: digest,
    level,
    approvers: [...levelOf(terms, level).eligible],
    quorum: terms.quorum,
  };
}

/** A closed approval. */
export function closedOf(closing: HeldClosing): Approval {
  const { approvalId, invocationId, outcome, binding, given, asked, approvers, closedAt, by, reason } = closing;
  return {
    approval_id: approvalId,
    invocation_id: invocationId,
    state: outcome,
    ...boundTo(binding),
    reason: asked.reason,
    requested_at: isoTime(asked.at),
    expires_at: isoTime(asked.until),
    binding_digest: digestOf(given?.binding ?? binding),
    approvers: [...approvers],
    decided_at: isoTime(closedAt),
    decided_by: by,
    ...(reason === undefined ? {} : { decision_reason: reason }),
  };
}

const boundTo = ({ toolId, toolVersion, agentDid, userDid, question }: ApprovalBinding) => ({
  tool_id: toolId,
  tool_version: toolVersion,
  agent_did: agentDid,
  ...(userDid === undefined ? {} : { user_did: userDid }),
  ...(question === undefined ? {} : { question }),
});

/** A vote. */
export function voteOf({
  approver,
  inNameOf,
  binding,
  parameters,
  reason,
  votedAt,
}: StoredVote): ApprovalDetail['votes'][number] {
  return {
    approver,
    in_name_of: inNameOf,
    binding_digest: digestOf(binding),
    ...(parameters === undefined ? {} : { parameters: { ...parameters } }),
    ...(reason === undefined ? {} : { reason }),
    voted_at: isoTime(votedAt),
  };
}

/** The result of a decision. */
export function decisionOf({
  approvalId,
  invocationId,
  state,
  votes,
  quorum,
  digest,
  rule,
}: Decided): ApprovalDecision {
  return {
    approval_id: approvalId,
    invocation_id: invocationId,
    state,
    votes,
    quorum,
    binding_digest: digest,
    ...(rule === undefined ? {} : { rule: ruleOf(rule) }),
  };
}

/** A standing rule. */
export function ruleOf(rule: StoredRule): ApprovalRule {
  return {
    rule_id: rule.id,
    tool_id: rule.toolId,
    content_hash: rule.contentHash,
    ...(rule.agentDid === undefined ? {} : { agent_did: rule.agentDid }),
    ...(rule.userDid === undefined ? {} : { user_did: rule.userDid }),
    reason: rule.reason,
    ...(rule.inputHash === undefined ? {} : { input_hash: rule.inputHash }),
    ...(rule.policyVersion === undefined ? {} : { policy_version: rule.policyVersion }),
    made_at: isoTime(rule.madeAt),
    made_by: rule.madeBy,
    expires_at: isoTime(rule.expiresAt),
    approval_id: rule.approvalId,
    ...(rule.why === undefined ? {} : { why: rule.why }),
  };
}

/** A delegation. */
export function delegationOf({ id, from, to, madeAt, until, reason }: StoredDelegation): ApprovalDelegation {
  return {
    delegation_id: id,
    from: from[0],
    to,
    made_at: isoTime(madeAt),
    until: isoTime(until),
    ...(reason === undefined ? {} : { reason }),
  };
}
