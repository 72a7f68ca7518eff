import { type Static, Type } from 'typebox';
import { AgentDid, InvocationId, JsonObject, NoInput, Timestamp, ToolId, Version } from '../identifiers.ts';
import { DocumentContext } from '../invocation.ts';
import { SideEffectPolicy } from '../tool-manifest.ts';
import { CallEnvironment } from './environment.ts';

const ApprovalId = Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$', description: 'Id of one question to a person.' });
const Digest = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description:
    'SHA-256, hex, of what an approval is bound to: caller, tool with its content hash, arguments, policy version and what the executor asks. A decision that names another one is refused.',
});
const Reason = Type.String({ minLength: 1, maxLength: 1000, description: 'Why; recorded, and shown to the caller.' });
const ApprovalReason = Type.Enum([
  'requires_approval',
  'require_approval',
  'requires_confirmation',
  'policy',
  'trust',
  'executor',
]);

/** One person's approval. */
const Vote = Type.Object(
  {
    approver: Type.String(),
    in_name_of: Type.String({ description: 'Whose right was used: another one than the approver after a delegation.' }),
    binding_digest: Digest,
    parameters: Type.Optional(JsonObject),
    reason: Type.Optional(Type.String()),
    voted_at: Timestamp,
  },
  { additionalProperties: false },
);

/** A call that waits for a person, or what became of it. */
export const Approval = Type.Object(
  {
    approval_id: ApprovalId,
    invocation_id: InvocationId,
    state: Type.Enum(['pending', 'approved', 'denied', 'expired', 'withdrawn']),
    tool_id: ToolId,
    tool_version: Version,
    agent_did: AgentDid,
    user_did: Type.Optional(Type.String()),
    side_effect_policy: Type.Optional(SideEffectPolicy),
    reason: ApprovalReason,
    question: Type.Optional(
      Type.String({
        description: 'What the executor asks about this call, with the name of the rule, in the words of the layer.',
      }),
    ),
    prompt: Type.Optional(Type.String({ description: 'In the words of the manifest or the activation.' })),
    requested_at: Timestamp,
    expires_at: Timestamp,
    binding_digest: Digest,
    level: Type.Optional(Type.Integer({ minimum: 0, description: 'Escalations so far; of a pending one.' })),
    approvers: Type.Array(Type.String(), {
      description: 'Who may answer now; of an approved one, whose approval counted.',
    }),
    quorum: Type.Optional(Type.Integer({ minimum: 1, description: 'People who have to approve; of a pending one.' })),
    decided_at: Type.Optional(Timestamp),
    decided_by: Type.Optional(Type.String()),
    decision_reason: Type.Optional(Type.String()),
  },
  { additionalProperties: false, title: 'Approval' },
);
export type Approval = Static<typeof Approval>;

export const ApprovalListRequest = Type.Object(
  {
    state: Type.Optional(
      Type.Enum(['pending', 'decided'], {
        description: 'Calls that wait, the oldest first, or the decided ones, the latest first. Default pending.',
      }),
    ),
    page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Which page.' })),
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: 'Default 50.' })),
  },
  { additionalProperties: false },
);
export type ApprovalListRequest = Static<typeof ApprovalListRequest>;

export const ApprovalListResponse = Type.Object({ approvals: Type.Array(Approval) }, { additionalProperties: false });
export type ApprovalListResponse = Static<typeof ApprovalListResponse>;

export const ApprovalShowRequest = Type.Object({ approval_id: ApprovalId }, { additionalProperties: false });
export type ApprovalShowRequest = Static<typeof ApprovalShowRequest>;

/** All that an approver has to see. */
export const ApprovalDetail = Type.Object(
  {
    approval: Approval,
    parameters: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description: 'The arguments as the tool would get them, nothing left out; of a pending one.',
      }),
    ),
    environment: Type.Optional(CallEnvironment),
    document_context: Type.Optional(DocumentContext),
    tool_description: Type.Optional(Type.String()),
    votes: Type.Array(Vote),
  },
  { additionalProperties: false },
);
export type ApprovalDetail = Static<typeof ApprovalDetail>;

/** "Always allow": calls that come later pass without a question. */
const Remember = Type.Object(
  {
    scope: Type.Enum(['exact_arguments', 'tool'], {
      description: 'Calls with the very same arguments, or every call of the tool.',
    }),
    for_seconds: Type.Integer({ minimum: 60, maximum: 31_536_000, description: 'How long it holds.' }),
    agent_only: Type.Optional(
      Type.Boolean({ description: 'Of this agent for this user alone, the default; false takes the role admin.' }),
    ),
    any_policy_version: Type.Optional(
      Type.Boolean({ description: 'Also once the policies changed; by default the question comes again then.' }),
    ),
  },
  { additionalProperties: false },
);

export const ApprovalApproveRequest = Type.Object(
  {
    approval_id: ApprovalId,
    binding_digest: Type.Optional(Digest),
    reason: Type.Optional(Reason),
    parameters: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description:
          'Arguments that replace the arguments of the call. They are validated and authorised in the same way.',
      }),
    ),
    remember: Type.Optional(Remember),
  },
  { additionalProperties: false },
);
export type ApprovalApproveRequest = Static<typeof ApprovalApproveRequest>;

export const ApprovalDenyRequest = Type.Object(
  { approval_id: ApprovalId, binding_digest: Type.Optional(Digest), reason: Type.Optional(Reason) },
  { additionalProperties: false },
);
export type ApprovalDenyRequest = Static<typeof ApprovalDenyRequest>;

/** An answer by the right that a notice brought. */
export const ApprovalAnswerRequest = Type.Object(
  {
    answer_token: Type.String({ minLength: 1, maxLength: 200, description: 'From the notice; good for one answer.' }),
    decision: Type.Enum(['approve', 'deny']),
    binding_digest: Type.Optional(Digest),
    reason: Type.Optional(Reason),
  },
  { additionalProperties: false },
);
export type ApprovalAnswerRequest = Static<typeof ApprovalAnswerRequest>;

/** An approval that holds for calls that come later. */
export const ApprovalRule = Type.Object(
  {
    rule_id: Type.String(),
    tool_id: ToolId,
    content_hash: Type.String({ description: 'Of the tool: another version asks again.' }),
    agent_did: Type.Optional(Type.String({ description: 'Absent: every agent of the tenant.' })),
    user_did: Type.Optional(Type.String()),
    reason: ApprovalReason,
    input_hash: Type.Optional(Type.String({ description: 'Absent: whatever the arguments are.' })),
    policy_version: Type.Optional(Type.String({ description: 'Absent: under any policies.' })),
    made_at: Timestamp,
    made_by: Type.String(),
    expires_at: Timestamp,
    approval_id: ApprovalId,
    why: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type ApprovalRule = Static<typeof ApprovalRule>;

/** What a decision led to. */
export const ApprovalDecision = Type.Object(
  {
    approval_id: ApprovalId,
    invocation_id: InvocationId,
    state: Type.Enum(['pending', 'approved', 'denied'], { description: 'pending: more people have to approve.' }),
    votes: Type.Integer({ minimum: 0 }),
    quorum: Type.Integer({ minimum: 1 }),
    binding_digest: Digest,
    rule: Type.Optional(ApprovalRule),
  },
  { additionalProperties: false },
);
export type ApprovalDecision = Static<typeof ApprovalDecision>;

export const ApprovalRuleListRequest = NoInput;
export const ApprovalRuleListResponse = Type.Object(
  { rules: Type.Array(ApprovalRule) },
  { additionalProperties: false },
);
export type ApprovalRuleListResponse = Static<typeof ApprovalRuleListResponse>;

export const ApprovalRuleRevokeRequest = Type.Object(
  { rule_id: Type.String({ minLength: 1, maxLength: 64 }), reason: Type.Optional(Reason) },
  { additionalProperties: false },
);
export type ApprovalRuleRevokeRequest = Static<typeof ApprovalRuleRevokeRequest>;

export const ApprovalDelegateRequest = Type.Object(
  {
    to: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'User or agent DID; needs the role approver itself.',
    }),
    for_seconds: Type.Integer({ minimum: 60, maximum: 31_536_000, description: 'How long it holds.' }),
    reason: Type.Optional(Reason),
  },
  { additionalProperties: false },
);
export type ApprovalDelegateRequest = Static<typeof ApprovalDelegateRequest>;

/** An approver's right to decide, lent for a time. */
export const ApprovalDelegation = Type.Object(
  {
    delegation_id: Type.String(),
    from: Type.String(),
    to: Type.String(),
    made_at: Timestamp,
    until: Timestamp,
    reason: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type ApprovalDelegation = Static<typeof ApprovalDelegation>;

export const ApprovalDelegationListResponse = Type.Object(
  { delegations: Type.Array(ApprovalDelegation) },
  { additionalProperties: false },
);
export type ApprovalDelegationListResponse = Static<typeof ApprovalDelegationListResponse>;

export const ApprovalDelegationEndRequest = Type.Object(
  { delegation_id: Type.String({ minLength: 1, maxLength: 64 }) },
  { additionalProperties: false },
);
export type ApprovalDelegationEndRequest = Static<typeof ApprovalDelegationEndRequest>;
