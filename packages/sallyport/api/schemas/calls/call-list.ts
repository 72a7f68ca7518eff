import { type Static, Type } from 'typebox';
import { AgentDid, InvocationId, Timestamp, ToolId } from '../identifiers.ts';
import { InvocationStatus, LifecycleState, OwnOnly } from '../invocation.ts';
import { SideEffectPolicy } from '../tool-manifest.ts';

/** Which calls are listed, the last accepted first. */
export const CallListRequest = Type.Object(
  {
    state: Type.Optional(Type.Array(LifecycleState, { maxItems: 9, description: 'In one of these states.' })),
    tool_id: Type.Optional(Type.String({ ...ToolId, description: 'Of one tool, as it is registered.' })),
    agent_did: Type.Optional(Type.String({ ...AgentDid, description: 'Of one agent.' })),
    since: Type.Optional(Type.String({ ...Timestamp, description: 'Accepted at this time or later.' })),
    until: Type.Optional(Type.String({ ...Timestamp, description: 'Accepted before this time.' })),
    own: Type.Optional(OwnOnly),
    deferred: Type.Optional(
      Type.Boolean({ description: 'Only calls that were answered before they were over: the tasks of MCP clients.' }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 256, description: 'Go on from here: `next` of the previous page.' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'How many.' })),
  },
  { additionalProperties: false },
);
export type CallListRequest = Static<typeof CallListRequest>;

/** One call without its arguments and its result. */
export const ListedCall = Type.Object(
  {
    invocation_id: InvocationId,
    status: InvocationStatus,
    state: LifecycleState,
    tool_id: Type.String(),
    tool_version: Type.Optional(Type.String()),
    agent_did: Type.String(),
    user_did: Type.Optional(Type.String()),
    side_effect_policy: Type.Optional(SideEffectPolicy),
    accepted_at: Timestamp,
    completed_at: Type.Optional(Timestamp),
    duration_ms: Type.Optional(Type.Number({ minimum: 0 })),
    result_forgotten: Type.Optional(Type.Boolean({ description: 'Its result was kept for its time.' })),
    e_code: Type.Optional(Type.String({ description: 'Row of the error catalogue, of a call that did not succeed.' })),
  },
  { additionalProperties: false, title: 'Listed call' },
);
export type ListedCall = Static<typeof ListedCall>;

export const CallListResponse = Type.Object(
  {
    invocations: Type.Array(ListedCall),
    next: Type.Optional(Type.String({ description: '`cursor` of the next page; absent after the last call.' })),
  },
  { additionalProperties: false },
);
export type CallListResponse = Static<typeof CallListResponse>;
