import { randomUUID } from 'node:crypto';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { recordedChange } from '../../audit/recorded-change.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { ApprovalBinding } from '../../domain/invocation/waiting-call.ts';
import type { StoredRule } from '../approval-store.port.ts';
import type { ApprovalState, Approver } from './approvals-state.ts';
import { personOf } from './eligible.ts';
import { approvalEvent } from './events.ts';
import type { Pending } from './pending.ts';
import { RULES_MAX } from './standing-rules.ts';

/** "Always allow", as requested by an approver. */
export interface Remember {
  readonly scope: 'exact_arguments' | 'tool';
  readonly forMs: number;
  /** Only this agent acting for this user; default true. False needs the role admin. */
  readonly agentOnly?: boolean;
  /** Also after the policies change; default false. */
  readonly anyPolicyVersion?: boolean;
}

/** Why a standing rule cannot be made with this approval; undefined when it can. */
export function refuseRule(
  { limits, rules }: ApprovalState,
  { terms, record, request }: Pending,
  { via, roles }: Approver,
  { scope, forMs, agentOnly = true }: Remember,
): Failure | undefined {
  if (terms.remember === 'never' || (terms.remember === 'exact_arguments' && scope === 'tool'))
    return failure(
      'E3801',
      `The rules for this tool allow no standing rule of the scope ${scope}. Approve this call alone.`,
    );
  if (request.reason === 'executor' && scope === 'tool')
    return failure(
      'E3801',
      'What was asked is about these arguments: a standing rule for it takes the scope exact_arguments.',
    );
  if (terms.quorum > 1)
    return failure(
      'E3801',
      `A call that ${terms.quorum} people have to approve gets no standing rule. Approve it alone.`,
    );
  if (via === 'link' || via === 'client')
    return failure('E3213', 'A standing rule takes a credential with the role approver or admin.');
  if (!agentOnly && !roles.includes('admin'))
    return failure(
      'E3213',
      'A standing rule for every agent of the tenant takes the role admin. Leave agent_only out.',
    );
  if (forMs > limits.rememberMsMax)
    return failure(
      'E3801',
      `A standing rule ends after ${Math.floor(limits.rememberMsMax / 1000)} seconds at the latest.`,
    );
  if (rules.list(record.tenantId).length >= RULES_MAX)
    return failure('E3810', `${RULES_MAX} standing rules are the most. Revoke some first.`);
  return undefined;
}

/** Makes a standing rule: narrow, visible to all approvers, revocable, and with an expiry. */
export async function makeRule(
  state: ApprovalState,
  { record, request }: Pending,
  approver: Approver,
  binding: ApprovalBinding,
  { scope, forMs, agentOnly = true, anyPolicyVersion = false }: Remember,
  why: string | undefined,
): Promise<StoredRule> {
  const now = state.clock.now();
  const { approvalId, reason } = request;
  const rule: StoredRule = {
    id: randomUUID(),
    tenantId: record.tenantId,
    ...(agentOnly ? { agentDid: binding.agentDid } : {}),
    ...(agentOnly && binding.userDid !== undefined ? { userDid: binding.userDid } : {}),
    toolId: binding.toolId,
    contentHash: binding.contentHash,
    reason,
    ...(scope === 'exact_arguments' ? { inputHash: binding.inputHash } : {}),
    ...(anyPolicyVersion ? {} : { policyVersion: binding.policyVersion }),
    madeAt: now,
    expiresAt: now + forMs,
    madeBy: approver.id,
    maker: personOf(approver),
    approvalId,
    ...(why === undefined ? {} : { why }),
  };
  const made = approvalEvent(state, {
    type: 'ai.agent.approval.rule_made',
    id: rule.id,
    approvalId,
    invocationId: record.invocationId,
    binding,
    data: {
      rule_id: rule.id,
      by: approver.id,
      scope,
      agent_only: agentOnly,
      any_policy_version: anyPolicyVersion,
      expires_at: new Date(rule.expiresAt).toISOString(),
      ...(why === undefined ? {} : { reason: why }),
    },
  });
  await recordedChange(
    state.ledger,
    () => [made],
    (keep) => state.store.addRule(rule, keep),
  );
  state.rules.take(rule);
  return rule;
}

/**
 * Revokes a rule: at once in this instance, within half a second in others. Undefined when the tenant has none of this
 * id.
 */
export async function revokeRule(
  state: ApprovalState,
  { tenantId, id: by }: Approver,
  ruleId: string,
  reason: string | undefined,
): Promise<StoredRule | undefined> {
  const eventsOf = ({ toolId, agentDid }: StoredRule): readonly EventDraft[] => [
    {
      id: randomUUID(),
      type: 'ai.agent.approval.rule_revoked',
      time: state.clock.now(),
      tenantId,
      data: {
        tenant_id: tenantId,
        tool_id: toolId,
        rule_id: ruleId,
        by,
        ...(agentDid === undefined ? {} : { agent_did: agentDid }),
        ...(reason === undefined ? {} : { reason }),
      },
    },
  ];
  return recordedChange(state.ledger, eventsOf, async (keep) => {
    const revoked = await state.store.revokeRule(tenantId, ruleId, keep);
    if (revoked !== undefined) state.rules.take(revoked);
    return revoked;
  });
}
