import type { EventType } from '../../../api/schemas/cloud-event.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { ApprovalBinding } from '../../domain/invocation/waiting-call.ts';
import type { ApprovalState } from './approvals-state.ts';

/** The approval that an event is about. */
export interface AboutApproval {
  readonly approvalId: string;
  readonly invocationId: string;
  readonly binding: ApprovalBinding;
}

/** A fact about an approval. */
export interface ApprovalFact extends AboutApproval {
  readonly type: EventType;
  /** The same for the same fact, even when it is written again after a crash. */
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One audited fact of an approval: who, what and why; arguments only as a hash (AUD-01). */
export function approvalEvent({ clock }: Pick<ApprovalState, 'clock'>, fact: ApprovalFact): EventDraft {
  const { binding, approvalId, invocationId } = fact;
  return {
    id: fact.id,
    type: fact.type,
    time: clock.now(),
    tenantId: binding.tenantId,
    subject: invocationId,
    data: {
      tenant_id: binding.tenantId,
      invocation_id: invocationId,
      approval_id: approvalId,
      agent_did: binding.agentDid,
      ...(binding.userDid === undefined ? {} : { user_did: binding.userDid }),
      tool_id: binding.toolId,
      tool_version: binding.toolVersion,
      content_hash: binding.contentHash,
      input_hash: binding.inputHash,
      policy_version: binding.policyVersion,
      ...fact.data,
    },
  };
}

/** Puts a fact of an approval on record. */
export function noteFact(state: Pick<ApprovalState, 'clock' | 'ledger'>, fact: ApprovalFact): Promise<void> {
  return state.ledger.commit({ events: [approvalEvent(state, fact)], durability: 'synchronous' });
}
