import type { Static, TSchema } from 'typebox';
import {
  ContextCheckpoint,
  CreateCheckpointArguments,
  DetectConflictsArguments,
  DetectConflictsResult,
  GetUnifiedContextArguments,
  RollbackToArguments,
  RollbackToResult,
  SaveContextSnapshotArguments,
  SaveContextSnapshotResult,
  SwitchTaskArguments,
  SwitchTaskResult,
  UnifiedContext,
} from '../../../api/schemas/reference-servers/context.ts';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import type { ContextServerParts } from './context-parts.ts';
import { detectConflicts, unifiedContext } from './read.ts';
import { switchTask } from './switch-task.ts';
import { createCheckpoint, rollBack, save } from './write.ts';

/** A tool of the context server. */
export interface ContextTool {
  readonly title: string;
  readonly description: string;
  readonly input: TSchema;
  readonly output: TSchema;
  /** What a call leaves; the same call again leaves no more than the first where it is idempotent. */
  readonly leaves: 'nothing' | 'the same' | 'more';
  /** The arguments were checked against `input`. @throws ToolLayerError */
  readonly run: (parts: ContextServerParts, owner: CallOwner, given: unknown) => Promise<object>;
}

/** Names of the tools, as 003 task 5 has them. */
export type ContextToolName =
  | 'save_context_snapshot'
  | 'create_checkpoint'
  | 'rollback_to'
  | 'get_unified_context'
  | 'switch_task'
  | 'detect_conflicts';

/** The tools. */
export const CONTEXT_TOOLS: Readonly<Record<ContextToolName, ContextTool>> = {
  save_context_snapshot: tool({
    title: 'Save a snapshot of the context',
    description:
      'Saves what is known of a task, so that it can be continued later, elsewhere or after a crash. Each member of updates replaces that of the context. With baseVersion it is refused when another writer has changed the same members since then.',
    input: SaveContextSnapshotArguments,
    output: SaveContextSnapshotResult,
    leaves: 'the same',
    run: save,
  }),
  create_checkpoint: tool({
    title: 'Create a checkpoint',
    description: 'Gives the newest version of the context of a task a name, so that it can be rolled back to.',
    input: CreateCheckpointArguments,
    output: ContextCheckpoint,
    leaves: 'more',
    run: createCheckpoint,
  }),
  rollback_to: tool({
    title: 'Roll back the context',
    description:
      'Makes the context of a task again what it was at a checkpoint or version. Nothing is lost: the rollback is a new version, and later ones can be rolled back to as well.',
    input: RollbackToArguments,
    output: RollbackToResult,
    leaves: 'the same',
    run: rollBack,
  }),
  get_unified_context: tool({
    title: 'Read the context',
    description: 'Everything that is known of a task: its context, its sessions, documents and checkpoints.',
    input: GetUnifiedContextArguments,
    output: UnifiedContext,
    leaves: 'nothing',
    run: unifiedContext,
  }),
  switch_task: tool({
    title: 'Switch to another task',
    description:
      'Saves what is known of the task that is left, and reads the context of the one that is begun or continued.',
    input: SwitchTaskArguments,
    output: SwitchTaskResult,
    leaves: 'the same',
    run: switchTask,
  }),
  detect_conflicts: tool({
    title: 'Detect conflicts',
    description:
      'Names the members of the context that another writer has changed since the version that you have read.',
    input: DetectConflictsArguments,
    output: DetectConflictsResult,
    leaves: 'nothing',
    run: detectConflicts,
  }),
};

/** A row of the table, whose function takes what its schema says. */
function tool<Input extends TSchema, Output extends TSchema>(
  row: Omit<ContextTool, 'input' | 'output' | 'run'> & {
    readonly input: Input;
    readonly output: Output;
    readonly run: (
      parts: ContextServerParts,
      owner: CallOwner,
      given: Static<Input>,
    ) => Promise<Static<Output> & object>;
  },
): ContextTool {
  return { ...row, run: (parts, owner, given) => row.run(parts, owner, given as Static<Input>) };
}
