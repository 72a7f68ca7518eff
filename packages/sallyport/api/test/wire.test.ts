import { expect, test } from 'vitest';
import { Role } from '../schemas/capability-token.ts';
import { EventType } from '../schemas/cloud-event.ts';
import { ToolErrorCategory, ToolErrorCode } from '../schemas/error.ts';
import { InvocationStatus, LifecycleState } from '../schemas/invocation.ts';
import { DeprecationState } from '../schemas/registry.ts';
import { Category, ExecutorKind, SideEffectPolicy } from '../schemas/tool-manifest.ts';
import { UpstreamState } from '../schemas/upstream.ts';

// Values that a peer can see. A change here changes the contract and gets a line in the changelog.
const PINNED: Readonly<Record<string, readonly [{ readonly enum: readonly string[] }, string]>> = {
  status: [InvocationStatus, 'pending running success error timeout cancelled permission_denied pending_approval'],
  state: [LifecycleState, 'DECLARED VALIDATED AUTHORIZED EXECUTING COMPLETED FAILED DENIED ABORTED ROLLED_BACK'],
  'error code': [
    ToolErrorCode,
    'invalid_parameters tool_not_found tool_version_not_found permission_denied rate_limit_exceeded ' +
      'idempotency_conflict tool_execution_error sandbox_failure external_api_error circuit_breaker_open timeout ' +
      'resource_exhausted document_not_found document_unavailable document_version_conflict checkpoint_failed ' +
      'resume_failed state_conflict internal_error tool_removed tool_deprecated tool_conflict invalid_manifest ' +
      'policy_blocked quota_blocked pending_approval approval_denied approval_expired cancelled outcome_unknown not_found',
  ],
  'error category': [
    ToolErrorCategory,
    'ToolNotFound InvalidParameters TypeMismatch PolicyBlocked ConfirmationRequired PermanentFailure Cancelled ' +
      'RateLimited ServerError NetworkError Timeout',
  ],
  'event type': [
    EventType,
    'ai.agent.tool.state_changed ai.agent.tool.invoked ai.agent.tool.succeeded ai.agent.tool.failed ' +
      'ai.agent.tool.timeout ai.agent.tool.rolled_back ' +
      'ai.agent.tool.attempt_failed ai.agent.tool.outcome_settled ai.agent.tool.determinism_broken ' +
      'ai.agent.tool.dry_run ai.agent.tool.preempted ai.agent.tool.question_unanswered ' +
      'ai.agent.tool.document_refused ai.agent.tool.document_deleted ' +
      'ai.agent.tool.checkpoint.created ai.agent.tool.side_effect.started ' +
      'ai.agent.tool.side_effect.completed ai.agent.tool.side_effect.failed ' +
      'ai.agent.tool.side_effect.compensated ai.agent.approval.requested ai.agent.approval.voted ' +
      'ai.agent.approval.decided ai.agent.approval.escalated ai.agent.approval.expired ' +
      'ai.agent.approval.delegated ai.agent.approval.rule_made ai.agent.approval.rule_revoked ' +
      'ai.agent.policy.changed ai.agent.registry.changed ai.agent.token.minted ' +
      'ai.agent.identity.changed ai.agent.operation.refused ai.agent.credential.ending ' +
      'ai.agent.circuit.opened ai.agent.circuit.half_opened ai.agent.circuit.closed',
  ],
  'deprecation state': [DeprecationState, 'active deprecated sunset removed'],
  'tool category': [Category, 'data_access computation external_api file_system llm_interaction'],
  'side-effect policy': [SideEffectPolicy, 'pure idempotent compensatable irreversible'],
  'executor kind': [ExecutorKind, 'native shell http mcp file web composio skill'],
  'upstream state': [UpstreamState, 'starting ready degraded stopped'],
  role: [Role, 'agent viewer operator approver admin'],
};

test.each(Object.entries(PINNED))('the values of %s on the wire stay as they are', (_, [schema, values]) => {
  expect(schema.enum).toEqual(values.split(' '));
});
