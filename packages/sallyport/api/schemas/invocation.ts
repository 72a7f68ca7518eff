import { type Static, Type } from 'typebox';
import { AgentSandboxContext, ResourceLimits } from './agent-sandbox-context.ts';
import { CallEnvironment } from './calls/environment.ts';
import { OutcomeSettlement } from './calls/outcome.ts';
import { TrustLevel } from './capability-token.ts';
import { ToolErrorBody, ToolErrorCategory } from './error.ts';
import {
  AgentDid,
  AgentVersion,
  InvocationId,
  JsonObject,
  JsonValue,
  TenantId,
  Timestamp,
  ToolId,
  VersionRange,
} from './identifiers.ts';

export const InvocationStatus = Type.Enum([
  'pending',
  'running',
  'success',
  'error',
  'timeout',
  'cancelled',
  'permission_denied',
  'pending_approval',
]);
export type InvocationStatus = Static<typeof InvocationStatus>;

/** Who says it is calling. A capability token that disagrees wins by refusal (E3209). */
export const AgentContext = Type.Object(
  {
    agent_did: AgentDid,
    tenant_id: TenantId,
    user_did: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    session_id: Type.Optional(Type.String({ maxLength: 255 })),
    agent_version: Type.Optional(AgentVersion),
    caller_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'The sub-agent that makes the call, for the audit; absent for the agent itself.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type AgentContext = Static<typeof AgentContext>;

/** The documents that a call brings to its tool (DOC-05). */
export const DocumentContext = Type.Object(
  {
    document_refs: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
        maxItems: 256,
        description: 'Ids of documents, ID@VERSION, or patterns of ids; document:// and doc:// URIs too.',
      }),
    ),
    version_pinning: Type.Optional(
      Type.Boolean({
        description: 'Whether later runs of the call, and calls that resume it, get the same versions. Default true.',
      }),
    ),
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'A question, answered with one document: the source of truth for it.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const CheckpointConfig = Type.Object(
  {
    enable_checkpointing: Type.Optional(Type.Boolean()),
    checkpoint_interval_seconds: Type.Optional(Type.Number({ minimum: 1, maximum: 86_400 })),
    resume_from_checkpoint_id: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);

/** When in its reasoning an agent calls; the caller says it, the layer never guesses (PRM-09). */
export const InvocationPhase = Type.Enum(['planner', 'executor', 'verifier', 'autonomous']);
export type InvocationPhase = Static<typeof InvocationPhase>;

/** Where a call belongs in the plan of an agent (004 §4.1); kept in the events of the call. */
const PlanPlace = Type.Object(
  {
    when: Type.Optional(Type.Enum(['BEFORE_STEP', 'DURING_STEP', 'AFTER_STEP'])),
    bound_rule_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    bound_step_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  },
  { additionalProperties: false },
);

/** How urgent a call is: which waits, which makes way, and which sandbox gets more of the machine. */
export const CallPriority = Type.Enum(['low', 'normal', 'high']);
export type CallPriority = Static<typeof CallPriority>;

export const ExecutionOptions = Type.Object(
  {
    async_mode: Type.Optional(Type.Boolean({ default: false })),
    priority: Type.Optional(CallPriority),
    idempotency_key: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    turn_group_id: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$',
        description:
          'Attempt at answering the user. Within it a tool runs once for the same business; idempotency_key wins over it.',
      }),
    ),
    require_approval: Type.Optional(Type.Boolean({ default: false })),
    phase: Type.Optional(InvocationPhase),
    claim_source: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description: 'Where the content of the arguments came from, in the words of the caller.',
      }),
    ),
    plan: Type.Optional(PlanPlace),
    environment: Type.Optional(CallEnvironment),
    trust_level: Type.Optional(
      Type.Enum(TrustLevel.enum, {
        description:
          'The call is trusted no further than this: it lowers what token and source allow, never raises it.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** BC-2 tool.invoke(). */
export const ToolInvokeRequest = Type.Object(
  {
    tool_id: ToolId,
    tool_version: Type.Optional(VersionRange),
    invocation_id: Type.Optional(InvocationId),
    agent_context: Type.Optional(AgentContext),
    agent_sandbox_context: Type.Optional(AgentSandboxContext),
    parameters: Type.Optional(JsonObject),
    resource_limits: Type.Optional(ResourceLimits),
    document_context: Type.Optional(DocumentContext),
    checkpoint_config: Type.Optional(CheckpointConfig),
    execution_options: Type.Optional(ExecutionOptions),
    capability_token: Type.Optional(
      Type.String({ maxLength: 16_384, description: 'JWT (RS256). An Authorization: Bearer header serves too.' }),
    ),
  },
  { additionalProperties: false, title: 'tool.invoke() request (BC-2)' },
);
export type ToolInvokeRequest = Static<typeof ToolInvokeRequest>;

export const DocumentAccess = Type.Object(
  {
    document_id: Type.String(),
    document_version: Type.String(),
    access_count: Type.Integer({ description: 'The attempts that the document was given to.' }),
  },
  { additionalProperties: false },
);
export type DocumentAccess = Static<typeof DocumentAccess>;

export const CheckpointMetadata = Type.Object(
  { checkpoint_id: Type.String(), checkpoint_type: Type.Enum(['micro', 'macro', 'named']), timestamp: Timestamp },
  { additionalProperties: false },
);

/** An attempt that failed, where a call took more than one (PIPE-05). */
export const FailedAttempt = Type.Object(
  {
    attempt: Type.Integer({ minimum: 1 }),
    e_code: Type.String(),
    category: ToolErrorCategory,
    started_at: Timestamp,
    duration_ms: Type.Number({ minimum: 0 }),
    waited_ms: Type.Integer({ minimum: 0, description: 'The wait before it.' }),
  },
  { additionalProperties: false },
);
export type FailedAttempt = Static<typeof FailedAttempt>;

/** PIPE-11. Figures that were not measured for this executor are 0. */
export const ExecutionMetadata = Type.Object(
  {
    duration_ms: Type.Number({ minimum: 0, description: 'Without slot_wait_ms.' }),
    slot_wait_ms: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'How long the call waited for a slot of its agent. Absent when it did not.',
      }),
    ),
    started_at: Timestamp,
    completed_at: Type.Optional(Timestamp),
    cpu_used_millicore_seconds: Type.Number({ minimum: 0 }),
    memory_peak_mb: Type.Number({ minimum: 0 }),
    network_bytes_sent: Type.Integer({ minimum: 0 }),
    network_bytes_received: Type.Integer({ minimum: 0 }),
    documents_accessed: Type.Array(DocumentAccess),
    checkpoints_created: Type.Array(CheckpointMetadata),
    attempts: Type.Integer({ minimum: 0 }),
    failed_attempts: Type.Optional(
      Type.Array(FailedAttempt, { description: 'Present when there was more than one attempt.' }),
    ),
    cached: Type.Boolean(),
    weaker_limits: Type.Optional(
      Type.Array(Type.Enum(['memory', 'cpu', 'processes', 'usage', 'disk']), {
        description:
          'Limits that could not be kept in full where the tool ran, for example because there are no control groups. Absent when all were.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ExecutionMetadata = Static<typeof ExecutionMetadata>;

/** Something the caller should know although the call went on, for example a deprecated version (REG-04). */
export const Warning = Type.Object(
  { code: Type.String(), message: Type.String(), details: Type.Optional(JsonObject) },
  { additionalProperties: false },
);
export type Warning = Static<typeof Warning>;

export const PollingInfo = Type.Object(
  { status_url: Type.String(), estimated_completion_seconds: Type.Optional(Type.Number()) },
  { additionalProperties: false },
);

/** What a person is asked before the call goes on (ORC-03, VIS-06). */
export const PendingApproval = Type.Object(
  {
    approval_id: Type.String(),
    reason: Type.Enum([
      'requires_approval',
      'require_approval',
      'requires_confirmation',
      'policy',
      'trust',
      'executor',
    ]),
    question: Type.Optional(
      Type.String({
        description: 'What the executor asks about this call, with the name of the rule, in the words of the layer.',
      }),
    ),
    prompt: Type.Optional(Type.String()),
    expires_at: Timestamp,
  },
  { additionalProperties: false },
);
export type PendingApproval = Static<typeof PendingApproval>;

/** BC-2 answer to tool.invoke(). */
export const ToolInvokeResponse = Type.Object(
  {
    invocation_id: InvocationId,
    status: InvocationStatus,
    tool_id: Type.Optional(Type.String()),
    tool_version: Type.Optional(Type.String()),
    result: Type.Optional(JsonValue),
    error: Type.Optional(ToolErrorBody),
    warnings: Type.Optional(Type.Array(Warning)),
    execution_metadata: ExecutionMetadata,
    checkpoint_ref: Type.Optional(Type.String()),
    polling_info: Type.Optional(PollingInfo),
    approval: Type.Optional(PendingApproval),
  },
  { additionalProperties: false, title: 'tool.invoke() response (BC-2)' },
);
export type ToolInvokeResponse = Static<typeof ToolInvokeResponse>;

/** Narrows what an asker reaches to its own calls. */
export const OwnOnly = Type.Boolean({
  description: 'Only a call of the asker itself, also for a role that reaches every call of the tenant.',
});

/** BC-2 tool.status(). */
export const ToolStatusRequest = Type.Object(
  { invocation_id: InvocationId, own: Type.Optional(OwnOnly), agent_context: Type.Optional(AgentContext) },
  { additionalProperties: false },
);
export type ToolStatusRequest = Static<typeof ToolStatusRequest>;

export const LifecycleState = Type.Enum([
  'DECLARED',
  'VALIDATED',
  'AUTHORIZED',
  'EXECUTING',
  'COMPLETED',
  'FAILED',
  'DENIED',
  'ABORTED',
  'ROLLED_BACK',
]);
export type LifecycleState = Static<typeof LifecycleState>;

export const ToolStatusResponse = Type.Object(
  {
    invocation_id: InvocationId,
    status: InvocationStatus,
    state: LifecycleState,
    phase: Type.Optional(InvocationPhase),
    tool_id: Type.String(),
    tool_version: Type.Optional(Type.String()),
    accepted_at: Type.Optional(Timestamp),
    deferred: Type.Optional(
      Type.Boolean({
        description: 'The call was answered before it was over, because it waited: MCP clients know it as a task.',
      }),
    ),
    progress_percent: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
    current_phase: Type.Optional(Type.String()),
    result: Type.Optional(JsonValue),
    error: Type.Optional(ToolErrorBody),
    warnings: Type.Optional(Type.Array(Warning)),
    execution_metadata: Type.Optional(ExecutionMetadata),
    approval: Type.Optional(PendingApproval),
    settlement: Type.Optional(OutcomeSettlement),
    latest_checkpoint: Type.Optional(
      Type.Object({ checkpoint_id: Type.String(), timestamp: Timestamp }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false, title: 'tool.status() response (BC-2)' },
);
export type ToolStatusResponse = Static<typeof ToolStatusResponse>;

/** What became of a call since the caller last looked (PIPE-07). */
export const ToolWatchRequest = Type.Object(
  {
    invocation_id: InvocationId,
    after: Type.Optional(
      Type.String({ maxLength: 64, description: 'event_id of what the caller saw last; all is new when absent.' }),
    ),
    wait_seconds: Type.Optional(
      Type.Number({ minimum: 0, maximum: 30, description: 'How long to wait for something new. Default 0.' }),
    ),
    own: Type.Optional(OwnOnly),
    agent_context: Type.Optional(AgentContext),
  },
  { additionalProperties: false },
);
export type ToolWatchRequest = Static<typeof ToolWatchRequest>;

export const ToolWatchResponse = Type.Object(
  {
    event_id: Type.String({ description: 'Names this state and progress; the same as `after` when nothing is new.' }),
    changed: Type.Boolean(),
    over: Type.Boolean({ description: 'The call is final: nothing will be new any more.' }),
    invocation: ToolStatusResponse,
  },
  { additionalProperties: false },
);
export type ToolWatchResponse = Static<typeof ToolWatchResponse>;

/** More time for a call that a worker runs (PIPE-12). */
export const ToolExtendRequest = Type.Object(
  {
    invocation_id: InvocationId,
    extend_seconds: Type.Number({ exclusiveMinimum: 0, maximum: 86_400, description: 'On top of what it has.' }),
    agent_context: Type.Optional(AgentContext),
  },
  { additionalProperties: false },
);
export type ToolExtendRequest = Static<typeof ToolExtendRequest>;

export const ToolExtendResponse = Type.Object(
  {
    invocation_id: InvocationId,
    extended: Type.Boolean(),
    deadline: Type.Optional(Timestamp),
    message: Type.String(),
  },
  { additionalProperties: false },
);
export type ToolExtendResponse = Static<typeof ToolExtendResponse>;

/** BC-2 tool.cancel(); idempotent. */
export const ToolCancelRequest = Type.Object(
  {
    invocation_id: InvocationId,
    own: Type.Optional(OwnOnly),
    agent_context: Type.Optional(AgentContext),
    reason: Type.Optional(Type.String({ maxLength: 1024, description: 'Why; its caller sees it.' })),
  },
  { additionalProperties: false },
);
export type ToolCancelRequest = Static<typeof ToolCancelRequest>;

export const ToolCancelResponse = Type.Object(
  { invocation_id: InvocationId, cancelled: Type.Boolean(), message: Type.String() },
  { additionalProperties: false, title: 'tool.cancel() response (BC-2)' },
);
export type ToolCancelResponse = Static<typeof ToolCancelResponse>;
