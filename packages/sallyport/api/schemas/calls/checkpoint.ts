import { type Static, Type } from 'typebox';
import { AgentDid, InvocationId, JsonValue, Timestamp } from '../identifiers.ts';

export const CheckpointId = Type.String({ minLength: 1, maxLength: 128 });

/** STA-01: a state of a tool, from which a later call can continue its work. */
export const Checkpoint = Type.Object(
  {
    checkpoint_id: CheckpointId,
    checkpoint_type: Type.Enum(['micro', 'macro', 'named'], {
      description: 'micro: on the timer, or whenever the tool saved one. macro: at a milestone. named: by hand.',
    }),
    label: Type.Optional(Type.String({ description: 'Name of the milestone, or of the named checkpoint.' })),
    invocation_id: Type.String({ description: 'The call that saved it.' }),
    tool_id: Type.String(),
    tool_version: Type.String(),
    agent_did: AgentDid,
    user_did: Type.Optional(Type.String()),
    sequence: Type.Integer({ description: 'Rises with each checkpoint of the same work.' }),
    current_phase: Type.Optional(Type.String()),
    progress_percent: Type.Optional(Type.Number()),
    schema_version: Type.String(),
    state_bytes: Type.Integer({ description: 'Length of the state.' }),
    state_sha256: Type.String(),
    parent_checkpoint_id: Type.Optional(
      Type.String({ description: 'The checkpoint as whose difference it is stored.' }),
    ),
    timestamp: Timestamp,
    archived_at: Type.Optional(Timestamp),
    expires_at: Type.Optional(Timestamp),
  },
  { additionalProperties: false, title: 'Checkpoint' },
);
export type Checkpoint = Static<typeof Checkpoint>;

export const CheckpointListRequest = Type.Object(
  {
    invocation_id: InvocationId,
    before: Type.Optional(Type.Integer({ minimum: 1, description: 'Sequence of the last one on the previous page.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: 'Default 50.' })),
  },
  { additionalProperties: false },
);
export type CheckpointListRequest = Static<typeof CheckpointListRequest>;

export const CheckpointListResponse = Type.Object(
  { checkpoints: Type.Array(Checkpoint) },
  { additionalProperties: false },
);
export type CheckpointListResponse = Static<typeof CheckpointListResponse>;

export const CheckpointGetRequest = Type.Object({ checkpoint_id: CheckpointId }, { additionalProperties: false });
export type CheckpointGetRequest = Static<typeof CheckpointGetRequest>;

export const CheckpointWithState = Type.Object(
  {
    checkpoint: Checkpoint,
    state: Type.Optional(JsonValue),
    state_base64: Type.Optional(Type.String({ description: 'In place of state, when it is no JSON text.' })),
  },
  { additionalProperties: false },
);
export type CheckpointWithState = Static<typeof CheckpointWithState>;

export const CheckpointDiffRequest = Type.Object(
  { checkpoint_id: CheckpointId, with: CheckpointId },
  { additionalProperties: false },
);
export type CheckpointDiffRequest = Static<typeof CheckpointDiffRequest>;

export const CheckpointDiffResponse = Type.Object(
  {
    changes: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: 'JSON Pointer in both states.' }),
          before: Type.Optional(JsonValue),
          after: Type.Optional(JsonValue),
        },
        { additionalProperties: false },
      ),
      { description: 'A side without the place has no member. Items of arrays are compared by position.' },
    ),
    truncated: Type.Boolean({ description: 'There are more changes than are shown.' }),
  },
  { additionalProperties: false },
);
export type CheckpointDiffResponse = Static<typeof CheckpointDiffResponse>;

export const CheckpointRestoreResponse = Type.Object({ checkpoint: Checkpoint }, { additionalProperties: false });
export type CheckpointRestoreResponse = Static<typeof CheckpointRestoreResponse>;

export const CheckpointRemoveResponse = Type.Object(
  { checkpoint_id: Type.String({ description: 'The removed one.' }) },
  { additionalProperties: false },
);
export type CheckpointRemoveResponse = Static<typeof CheckpointRemoveResponse>;
