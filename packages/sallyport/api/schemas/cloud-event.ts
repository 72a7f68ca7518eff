import { type Static, Type } from 'typebox';
import { JsonObject, Timestamp } from './identifiers.ts';
import { LifecycleState } from './invocation.ts';

/** AUD-01. Every audited fact is one of these. */
export const EventType = Type.Enum([
  'ai.agent.tool.state_changed',
  'ai.agent.tool.invoked',
  'ai.agent.tool.succeeded',
  'ai.agent.tool.failed',
  'ai.agent.tool.timeout',
  'ai.agent.tool.rolled_back',
  'ai.agent.tool.attempt_failed',
  'ai.agent.tool.outcome_settled',
  'ai.agent.tool.determinism_broken',
  'ai.agent.tool.dry_run',
  'ai.agent.tool.preempted',
  'ai.agent.tool.question_unanswered',
  'ai.agent.tool.document_refused',
  'ai.agent.tool.document_deleted',
  'ai.agent.tool.checkpoint.created',
  'ai.agent.tool.side_effect.started',
  'ai.agent.tool.side_effect.completed',
  'ai.agent.tool.side_effect.failed',
  'ai.agent.tool.side_effect.compensated',
  'ai.agent.approval.requested',
  'ai.agent.approval.voted',
  'ai.agent.approval.decided',
  'ai.agent.approval.escalated',
  'ai.agent.approval.expired',
  'ai.agent.approval.delegated',
  'ai.agent.approval.rule_made',
  'ai.agent.approval.rule_revoked',
  'ai.agent.policy.changed',
  'ai.agent.registry.changed',
  'ai.agent.token.minted',
  'ai.agent.identity.changed',
  'ai.agent.operation.refused',
  'ai.agent.credential.ending',
  'ai.agent.circuit.opened',
  'ai.agent.circuit.half_opened',
  'ai.agent.circuit.closed',
]);
export type EventType = Static<typeof EventType>;

/**
 * `data` of an event about an invocation: the union of 001 §8.1 and 000 §4.3. Hashes are SHA-256 over canonical JSON
 * (RFC 8785), in hex.
 */
export const InvocationEventData = Type.Object(
  {
    invocation_id: Type.String(),
    agent_did: Type.Optional(Type.String()),
    tenant_id: Type.String(),
    user_did: Type.Optional(Type.String()),
    session_id: Type.Optional(Type.String()),
    tool_id: Type.String(),
    called_as: Type.Optional(
      Type.String({ description: 'The name that the caller knows the tool by, when a view gave it another.' }),
    ),
    tool_version: Type.Optional(Type.String()),
    door: Type.Optional(Type.String()),
    caller_id: Type.Optional(
      Type.String({ description: 'The sub-agent that made the call, as the caller stated it.' }),
    ),
    async_mode: Type.Optional(Type.Boolean({ description: 'In `ai.agent.tool.invoked`.' })),
    approved_by: Type.Optional(
      Type.String({
        description: 'In `ai.agent.tool.invoked`: the approvers, `rule:` and the id of a standing rule, or `auto`.',
      }),
    ),
    priority: Type.Optional(Type.String({ description: 'In `ai.agent.tool.invoked`.' })),
    phase: Type.Optional(Type.String({ description: 'As the caller stated it.' })),
    claim_source: Type.Optional(Type.String()),
    argument_findings: Type.Optional(
      Type.Array(Type.String(), { description: 'Kinds of injection that the arguments look like; absent for none.' }),
    ),
    turn_group_id: Type.Optional(Type.String()),
    plan: Type.Optional(JsonObject),
    side_effect: Type.Optional(JsonObject),
    trust: Type.Optional(Type.String()),
    policy_decision: Type.Optional(JsonObject),
    adversarial_policy_decision: Type.Optional(JsonObject),
    hooks: Type.Optional(Type.Array(JsonObject)),
    state: LifecycleState,
    capabilities: Type.Array(Type.String()),
    input_hash: Type.Optional(Type.String()),
    output_hash: Type.Optional(Type.String()),
    duration_ms: Type.Optional(Type.Number()),
    exit_code: Type.Optional(
      Type.Integer({ description: 'At the end of a shell tool or script; 128 + number for a signal.' }),
    ),
    truncated: Type.Optional(Type.Boolean({ description: 'Whether the output of that program was cut.' })),
  },
  { additionalProperties: true },
);
export type InvocationEventData = Static<typeof InvocationEventData>;

/** CloudEvents 1.0 envelope. Extension attributes: tenantid, and the hash chain of one instance (AUD-03). */
export const CloudEvent = Type.Object(
  {
    specversion: Type.Literal('1.0'),
    id: Type.String({ minLength: 1 }),
    source: Type.String({ minLength: 1 }),
    type: EventType,
    time: Timestamp,
    subject: Type.Optional(Type.String()),
    datacontenttype: Type.Literal('application/json'),
    tenantid: Type.String(),
    chainid: Type.String({ description: 'Chain of the instance that wrote the event.' }),
    chainseq: Type.Integer({ minimum: 1, description: 'Place in the chain, without gaps.' }),
    chainprev: Type.String({ description: 'chainhash of the event before; 64 zeros for the first.' }),
    chainhash: Type.String({ description: 'SHA-256 over the canonical JSON of the event without this attribute.' }),
    data: JsonObject,
  },
  { additionalProperties: false, title: 'CloudEvent 1.0' },
);
export type CloudEvent = Static<typeof CloudEvent>;
