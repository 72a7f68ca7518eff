import { randomUUID } from 'node:crypto';
import { type Failure, failure } from '@sallyport/std/error/failure';
import type { ApprovalRequest } from '../../domain/invocation/waiting-call.ts';
import { isSamePerson, rootHolderOf } from '../../domain/principal/root-holder.ts';
import type { ApprovalQuestion } from '../../pipeline/approval-questions.port.ts';
import type { StoredRule } from '../approval-store.port.ts';
import { termsFor } from '../approval-terms.ts';
import { type AskingState, inBackground } from './approvals-state.ts';
import { nobodyCouldAnswer } from './eligible.ts';

/** Retry hint, in ms, when the tenant has too many pending approvals. */
const RETRY_MS = 60_000;

/** The question for a person; created anew each time, so that no two calls share an id. */
export function ask(state: AskingState, question: ApprovalQuestion): ApprovalRequest | Failure {
  const { reason, binding, tool, prompt } = question;
  const terms = termsFor(state.terms, tool, reason);
  if (nobodyCouldAnswer(terms, question))
    return failure(
      'E3807',
      'Nobody could approve this call: the only approver of its tool asked for it. It did not run.',
    );
  const waiting = state.pendingCounts.get(binding.tenantId) ?? 0;
  if (waiting >= state.limits.pendingMax)
    return failure('E3803', `${waiting} calls wait for an approval already. Try again when some are decided.`, {
      retryAfterMs: RETRY_MS,
    });
  state.pendingCounts.set(binding.tenantId, waiting + 1);
  const now = state.clock.now();
  return {
    approvalId: randomUUID(),
    reason,
    binding,
    requestedAt: now,
    expiresAt: now + terms.expiresAfterMs,
    ...(prompt === undefined ? {} : { prompt }),
  };
}

/** Under four eyes, a person's standing rule does not cover that person's own calls. */
function isOwnCall({ terms }: AskingState, { tool, reason, claims }: ApprovalQuestion, { maker }: StoredRule): boolean {
  if (maker === undefined || !isSamePerson(maker, rootHolderOf(claims))) return false;
  return termsFor(terms, tool, reason).fourEyes;
}

/** The standing rule that approves the call, as `rule:` and its id. The use of the rule is recorded after the call. */
export function standingApproval(state: AskingState, question: ApprovalQuestion): string | undefined {
  const { binding } = question;
  const rule = state.rules.match(question, (each) => !isOwnCall(state, question, each));
  if (rule === undefined) return undefined;
  const by = `rule:${rule.id}`;
  void inBackground(state, 'approval-rule-use-not-recorded', () =>
    state.ledger.commit({
      events: [
        {
          id: randomUUID(),
          type: 'ai.agent.approval.decided',
          time: state.clock.now(),
          tenantId: binding.tenantId,
          data: {
            tenant_id: binding.tenantId,
            agent_did: binding.agentDid,
            ...(binding.userDid === undefined ? {} : { user_did: binding.userDid }),
            tool_id: binding.toolId,
            tool_version: binding.toolVersion,
            input_hash: binding.inputHash,
            decision: 'approved',
            by,
            rule_id: rule.id,
          },
        },
      ],
      durability: 'asynchronous',
    }),
  );
  return by;
}
