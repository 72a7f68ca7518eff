import { type Static, Type } from 'typebox';
import { JsonObject, JsonValue, Timestamp } from '../identifiers.ts';

/**
 * Schemas of the six tools of a context server (STA-04): arguments, and results as `structuredContent`. Names are those of
 * 003 task 5, in camel case, unlike everything else on the wire: the layer is a client of any server that has these tools.
 */

export const TaskId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Id of a task, as its owner chose it. The context of a session is that of the task with its id.',
});

const SessionId = Type.String({ minLength: 1, maxLength: 255, description: 'The session in which it is done.' });

const ContextVersionNumber = Type.Integer({
  minimum: 1,
  description: 'Rises with each change of the context, from 1.',
});

const BaseVersion = Type.Integer({
  minimum: 0,
  description:
    'The version that the writer has read; 0 when there was none. Changes of others since then are conflicts.',
});

const Updates = Type.Unsafe<Record<string, unknown>>({
  ...JsonObject,
  description: 'Members to set in the context, each as a whole; null removes one. All others stay.',
});

const CheckpointIdOfServer = Type.String({ minLength: 1, maxLength: 128 });

const Label = Type.String({ minLength: 1, maxLength: 255, description: 'Name of the milestone.' });

const CheckpointKind = Type.Enum(['micro', 'macro', 'named']);

export const SaveContextSnapshotArguments = Type.Object(
  {
    taskId: TaskId,
    updates: Updates,
    syncToFile: Type.Optional(
      Type.Literal(false, { description: 'This server keeps no files, so only false is possible.' }),
    ),
    baseVersion: Type.Optional(BaseVersion),
    sessionId: Type.Optional(SessionId),
  },
  { additionalProperties: false },
);
export type SaveContextSnapshotArguments = Static<typeof SaveContextSnapshotArguments>;

export const SaveContextSnapshotResult = Type.Object(
  { taskId: Type.String(), version: ContextVersionNumber, savedAt: Timestamp },
  { additionalProperties: false },
);
export type SaveContextSnapshotResult = Static<typeof SaveContextSnapshotResult>;

export const CreateCheckpointArguments = Type.Object(
  {
    taskId: TaskId,
    label: Label,
    checkpointType: Type.Optional(Type.Unsafe<'micro' | 'macro' | 'named'>({ ...CheckpointKind, default: 'named' })),
    description: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  { additionalProperties: false },
);
export type CreateCheckpointArguments = Static<typeof CreateCheckpointArguments>;

/** A version of a context that has a name, and is kept with it. */
export const ContextCheckpoint = Type.Object(
  {
    checkpointId: CheckpointIdOfServer,
    taskId: Type.String(),
    label: Label,
    checkpointType: CheckpointKind,
    description: Type.Optional(Type.String()),
    version: ContextVersionNumber,
    createdAt: Timestamp,
  },
  { additionalProperties: false },
);
export type ContextCheckpoint = Static<typeof ContextCheckpoint>;

export const RollbackToArguments = Type.Object(
  {
    taskId: TaskId,
    target: Type.Union([
      Type.Object(
        { type: Type.Literal('checkpoint'), checkpointId: CheckpointIdOfServer },
        { additionalProperties: false },
      ),
      Type.Object({ type: Type.Literal('version'), version: ContextVersionNumber }, { additionalProperties: false }),
    ]),
    baseVersion: Type.Optional(BaseVersion),
    sessionId: Type.Optional(SessionId),
  },
  { additionalProperties: false },
);
export type RollbackToArguments = Static<typeof RollbackToArguments>;

/** The rollback is a new version: what it takes back stays in the history, and can be rolled back to. */
export const RollbackToResult = Type.Object(
  {
    taskId: Type.String(),
    version: ContextVersionNumber,
    restoredVersion: Type.Integer({ description: 'The version whose context this is again.' }),
    immediateContext: JsonObject,
  },
  { additionalProperties: false },
);
export type RollbackToResult = Static<typeof RollbackToResult>;

export const GetUnifiedContextArguments = Type.Object(
  { taskId: TaskId, includeVersionHistory: Type.Optional(Type.Boolean({ default: false })) },
  { additionalProperties: false },
);
export type GetUnifiedContextArguments = Static<typeof GetUnifiedContextArguments>;

export const ContextVersion = Type.Object(
  {
    version: ContextVersionNumber,
    change: Type.Enum(['saved', 'switched', 'rolled_back'], { description: 'What made it.' }),
    sessionId: Type.Optional(Type.String()),
    savedAt: Timestamp,
  },
  { additionalProperties: false },
);
export type ContextVersion = Static<typeof ContextVersion>;

/** Everything that is known of a task. */
export const UnifiedContext = Type.Object(
  {
    taskId: Type.String(),
    version: Type.Integer({ minimum: 0, description: 'The newest one; 0 for a task that has no context yet.' }),
    updatedAt: Type.Optional(Timestamp),
    immediateContext: Type.Unsafe<Record<string, unknown>>({ ...JsonObject, description: 'The context itself.' }),
    sessions: Type.Array(
      Type.Object({ sessionId: Type.String(), lastSavedAt: Timestamp }, { additionalProperties: false }),
      { description: 'Sessions that changed it, the last one first, as far as its versions are kept.' },
    ),
    documents: Type.Array(
      Type.Object({ documentId: Type.String(), version: Type.String() }, { additionalProperties: false }),
      { description: 'Documents that the context names in document_versions.' },
    ),
    checkpoints: Type.Array(ContextCheckpoint, { description: 'Newest first.' }),
    versionHistory: Type.Optional(
      Type.Array(ContextVersion, { description: 'Newest first, as far as they are kept.' }),
    ),
  },
  { additionalProperties: false },
);
export type UnifiedContext = Static<typeof UnifiedContext>;

export const SwitchTaskArguments = Type.Object(
  {
    fromTaskId: Type.Optional(
      Type.Unsafe<string>({ ...TaskId, description: 'The task that is left; its updates are saved first.' }),
    ),
    toTaskId: TaskId,
    updates: Type.Optional(Updates),
    baseVersion: Type.Optional(BaseVersion),
    sessionId: Type.Optional(SessionId),
  },
  { additionalProperties: false },
);
export type SwitchTaskArguments = Static<typeof SwitchTaskArguments>;

export const SwitchTaskResult = Type.Object(
  { saved: Type.Optional(SaveContextSnapshotResult), loaded: UnifiedContext },
  { additionalProperties: false },
);
export type SwitchTaskResult = Static<typeof SwitchTaskResult>;

export const DetectConflictsArguments = Type.Object(
  {
    taskId: TaskId,
    baseVersion: BaseVersion,
    updates: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...Updates,
        description: 'What the writer wants to save; absent: everything that was changed is a conflict.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type DetectConflictsArguments = Static<typeof DetectConflictsArguments>;

/** A member of the context that somebody else has changed. A side that has no such member is absent. */
export const ContextConflict = Type.Object(
  {
    field: Type.String(),
    base: Type.Optional(JsonValue),
    current: Type.Optional(JsonValue),
    yours: Type.Optional(JsonValue),
  },
  { additionalProperties: false },
);
export type ContextConflict = Static<typeof ContextConflict>;

export const DetectConflictsResult = Type.Object(
  {
    taskId: Type.String(),
    baseVersion: Type.Integer({ minimum: 0 }),
    currentVersion: Type.Integer({ minimum: 0 }),
    hasConflicts: Type.Boolean(),
    conflicts: Type.Array(ContextConflict),
  },
  { additionalProperties: false },
);
export type DetectConflictsResult = Static<typeof DetectConflictsResult>;
