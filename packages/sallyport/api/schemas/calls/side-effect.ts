import { type Static, Type } from 'typebox';
import { ToolErrorBody } from '../error.ts';
import { AgentDid, InvocationId, JsonValue, Timestamp, ToolId, Version } from '../identifiers.ts';
import { SideEffectPolicy } from '../tool-manifest.ts';

const TurnGroupId = Type.String({ minLength: 1, maxLength: 128 });

/** VIS-03. The first five are what became of the call itself, the others what became of taking it back. */
export const SideEffectStatus = Type.Enum([
  'executing',
  'executed',
  'failed',
  'rolled_back',
  'unknown',
  'compensating',
  'compensated',
  'compensation_failed',
  'compensation_unknown',
]);
export type SideEffectStatus = Static<typeof SideEffectStatus>;

/** What one call left behind (004 §4.1), by the id of the call. */
export const SideEffectRecord = Type.Object(
  {
    id: InvocationId,
    tool_name: Type.String(),
    tool_version: Type.Optional(Version),
    agent_did: AgentDid,
    user_did: Type.Optional(Type.String()),
    policy: SideEffectPolicy,
    status: SideEffectStatus,
    started_at: Timestamp,
    executed_at: Type.Optional(Timestamp),
    turn_group_id: Type.Optional(TurnGroupId),
    idempotency_key: Type.Optional(Type.String()),
    irreversible: Type.Boolean(),
    needs_compensation: Type.Boolean({ description: 'It can be taken back, and was not yet.' }),
    compensation_tool: Type.Optional(ToolId),
    compensation_id: Type.Optional(InvocationId),
    compensation_executed: Type.Boolean(),
    compensates: Type.Optional(InvocationId),
    args: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description: 'Of one record, and of calls that can be taken back: the others keep only a hash.',
      }),
    ),
    result: Type.Optional(JsonValue),
    compensation_result: Type.Optional(JsonValue),
    error: Type.Optional(ToolErrorBody),
  },
  { additionalProperties: false, title: 'Side-effect record' },
);
export type SideEffectRecord = Static<typeof SideEffectRecord>;

export const SideEffectListRequest = Type.Object(
  {
    turn_group_id: Type.Optional(Type.String({ ...TurnGroupId, description: 'Of one turn group.' })),
    agent_did: Type.Optional(Type.String({ ...AgentDid, description: 'Of one agent.' })),
    needs_compensation: Type.Optional(
      Type.Boolean({ description: 'Only side effects that can be taken back and were not.' }),
    ),
    after: Type.Optional(
      Type.String({ maxLength: 256, description: 'Go on after this one: `next` of the page before.' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'How many.' })),
  },
  { additionalProperties: false },
);
export type SideEffectListRequest = Static<typeof SideEffectListRequest>;

/** The last accepted first. */
export const SideEffectListResponse = Type.Object(
  { side_effects: Type.Array(SideEffectRecord), next: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
export type SideEffectListResponse = Static<typeof SideEffectListResponse>;

export const SideEffectGetRequest = Type.Object({ invocation_id: InvocationId }, { additionalProperties: false });
export type SideEffectGetRequest = Static<typeof SideEffectGetRequest>;

export const CompensateRequest = Type.Object(
  {
    invocation_id: InvocationId,
    arguments: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description: 'Arguments of the compensating tool that win over those from the call and its result.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type CompensateRequest = Static<typeof CompensateRequest>;

/** All of one turn group, or the calls named, in the order in which they ran. */
export const CompensateAllRequest = Type.Object(
  {
    turn_group_id: Type.Optional(TurnGroupId),
    invocation_ids: Type.Optional(Type.Array(InvocationId, { minItems: 1, maxItems: 100, uniqueItems: true })),
    continue_on_failure: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Go on with the earlier ones after one that could not be taken back.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type CompensateAllRequest = Static<typeof CompensateAllRequest>;

/** What became of one side effect of many. */
export const CompensationOutcome = Type.Object(
  {
    invocation_id: InvocationId,
    tool_name: Type.Optional(Type.String()),
    outcome: Type.Enum(['compensated', 'compensating', 'failed', 'unknown', 'not_compensatable', 'not_tried']),
    already: Type.Optional(Type.Boolean({ description: 'It had been taken back before.' })),
    compensation_id: Type.Optional(InvocationId),
    error: Type.Optional(ToolErrorBody),
  },
  { additionalProperties: false },
);
export type CompensationOutcome = Static<typeof CompensationOutcome>;

/** In the order in which they were tried: the last that ran first. */
export const CompensateAllResponse = Type.Object(
  {
    complete: Type.Boolean({ description: 'Everything that can be taken back is.' }),
    outcomes: Type.Array(CompensationOutcome),
  },
  { additionalProperties: false },
);
export type CompensateAllResponse = Static<typeof CompensateAllResponse>;
