import { type Static, Type } from 'typebox';
import { ToolErrorBody } from '../error.ts';
import { AgentDid, InvocationId, JsonObject, JsonValue, Timestamp, ToolId, VersionRange } from '../identifiers.ts';
import { CallEnvironment } from './environment.ts';

const Outcome = Type.Enum(['happened', 'did_not_happen'], {
  description: 'Whether the tool did what the call asked for.',
});

/** What became of a call whose outcome was not known (PIPE-13). */
export const OutcomeSettlement = Type.Object(
  {
    outcome: Outcome,
    how: Type.Enum(['person', 'reconcile', 'rollback'], {
      description: 'A person said so, a tool that looked, or the layer took its changes back.',
    }),
    settled_by: Type.Optional(Type.String()),
    note: Type.Optional(Type.String()),
    result: Type.Optional(JsonValue),
    settled_at: Timestamp,
  },
  { additionalProperties: false },
);
export type OutcomeSettlement = Static<typeof OutcomeSettlement>;

/** A call that was cut off after it may have reached its tool. */
export const UnknownOutcome = Type.Object(
  {
    invocation_id: InvocationId,
    tool_id: Type.String(),
    tool_version: Type.Optional(Type.String()),
    agent_did: AgentDid,
    user_did: Type.Optional(Type.String()),
    session_id: Type.Optional(Type.String()),
    side_effect_policy: Type.Optional(Type.String()),
    input_hash: Type.Optional(Type.String()),
    accepted_at: Timestamp,
    error: ToolErrorBody,
    settlement: Type.Optional(OutcomeSettlement),
  },
  { additionalProperties: false },
);
export type UnknownOutcome = Static<typeof UnknownOutcome>;

export const OutcomeListRequest = Type.Object(
  {
    settled: Type.Optional(Type.Boolean({ description: 'List settled outcomes instead of open ones.' })),
    after: Type.Optional(Type.String({ ...InvocationId, description: 'Go on after this call.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'How many; 100 when absent.' })),
  },
  { additionalProperties: false },
);
export type OutcomeListRequest = Static<typeof OutcomeListRequest>;

/** The oldest first; `after` with the last id gives the next page. */
export const OutcomeListResponse = Type.Object(
  { outcomes: Type.Array(UnknownOutcome) },
  { additionalProperties: false },
);
export type OutcomeListResponse = Static<typeof OutcomeListResponse>;

export const OutcomeGetRequest = Type.Object({ invocation_id: InvocationId }, { additionalProperties: false });
export type OutcomeGetRequest = Static<typeof OutcomeGetRequest>;

export const OutcomeSettleRequest = Type.Object(
  {
    invocation_id: InvocationId,
    outcome: Outcome,
    note: Type.String({ minLength: 1, maxLength: 2048, description: 'How it was found out.' }),
    result: Type.Optional(Type.Unsafe<unknown>({ description: 'What the tool would have answered.' })),
  },
  { additionalProperties: false },
);
export type OutcomeSettleRequest = Static<typeof OutcomeSettleRequest>;

/** A tool that only looks is asked what became of the call. It answers with an object that has the member `outcome`. */
export const OutcomeReconcileRequest = Type.Object(
  {
    invocation_id: InvocationId,
    tool_id: ToolId,
    tool_version: Type.Optional(VersionRange),
    parameters: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...JsonObject,
        description: 'Its arguments; the id of the call as invocation_id when absent.',
      }),
    ),
    capability_token: Type.Optional(Type.String({ maxLength: 16_384, description: 'Capability token for the tool.' })),
  },
  { additionalProperties: false },
);
export type OutcomeReconcileRequest = Static<typeof OutcomeReconcileRequest>;

/** A call of a pure tool made again with the arguments that it had (PIPE-10). */
export const ToolVerifyRequest = Type.Object(
  {
    invocation_id: InvocationId,
    parameters: Type.Optional(JsonObject),
    environment: Type.Optional(CallEnvironment),
    capability_token: Type.Optional(Type.String({ maxLength: 16_384 })),
  },
  { additionalProperties: false },
);
export type ToolVerifyRequest = Static<typeof ToolVerifyRequest>;

export const ToolVerifyResponse = Type.Object(
  {
    invocation_id: InvocationId,
    same: Type.Boolean({ description: 'Whether the same arguments gave the same result.' }),
    recorded_output_hash: Type.String(),
    output_hash: Type.String(),
    replay_invocation_id: InvocationId,
  },
  { additionalProperties: false },
);
export type ToolVerifyResponse = Static<typeof ToolVerifyResponse>;
