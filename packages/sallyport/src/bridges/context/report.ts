import { isoTime } from '@sallyport/std/iso-time';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import type { CheckpointFacts } from '../checkpoint-store.port.ts';

/** One thing that the context server is asked to do for a task. */
export type ReportStep =
  | {
      readonly tool: 'save_context_snapshot' | 'create_checkpoint';
      readonly args: Readonly<Record<string, unknown>>;
      /** Sequence of the checkpoint whose report this step ends. */
      readonly upTo?: number;
    }
  /** The task continues from a checkpoint of the layer. */
  | { readonly tool: 'rollback_to'; readonly checkpointId: string };

/** What is reported of a task. */
export interface Report {
  readonly owner: CallOwner;
  readonly taskId: string;
  readonly steps: readonly ReportStep[];
}

/** The task is the work of a call and of the calls that resumed it; its id is that of the first call. */
export function reportOf(facts: CheckpointFacts, state: Uint8Array, stateBytesMax: number): Report {
  const taskId = facts.lineId;
  const snapshot = {
    tool: 'save_context_snapshot' as const,
    args: { taskId, updates: snapshotOf(facts, state, stateBytesMax), syncToFile: false },
  };
  const upTo = facts.sequence;
  const isMicro = facts.type === 'micro';
  const steps = isMicro ? [{ ...snapshot, upTo }] : [snapshot, { ...milestoneOf(facts), upTo }];
  return { owner: facts.owner, taskId, steps };
}

/** The task continues from a milestone or a named checkpoint. Those on the timer have none at the server. */
export function continuationReport({ type, owner, lineId, checkpointId }: CheckpointFacts): Report | undefined {
  if (type === 'micro') return undefined;
  return { owner, taskId: lineId, steps: [{ tool: 'rollback_to', checkpointId }] };
}

/** The id of the checkpoint stands in the description: the server has ids of its own. */
function milestoneOf(facts: CheckpointFacts) {
  const { lineId, label, phase, type, toolId, toolVersion, checkpointId } = facts;
  const at = phase === undefined ? '' : ` at phase ${phase}`;
  return {
    tool: 'create_checkpoint' as const,
    args: {
      taskId: lineId,
      label,
      checkpointType: type,
      description: `${checkpointId}: ${toolId} ${toolVersion}${at}`,
    },
  };
}

/** The checkpoint as 003 task 5 writes it (ToolCheckpoint). */
function snapshotOf(
  facts: CheckpointFacts,
  state: Uint8Array,
  stateBytesMax: number,
): Readonly<Record<string, unknown>> {
  const { phase, progressPercent } = facts;
  return {
    schema_version: facts.schemaVersion,
    checkpoint_id: facts.checkpointId,
    invocation_id: facts.invocationId,
    tool_id: facts.toolId,
    tool_version: facts.toolVersion,
    checkpoint_type: facts.type,
    timestamp: isoTime(facts.savedAt),
    state: {
      ...(progressPercent === undefined ? {} : { progress_percent: progressPercent }),
      ...(phase === undefined ? {} : { phase }),
      ...(state.length > stateBytesMax ? {} : customStateOf(state)),
      state_bytes: facts.size,
      state_sha256: facts.sha256,
    },
  };
}

/** Only what is JSON is reported. */
function customStateOf(state: Uint8Array): { readonly custom_state?: unknown } {
  try {
    return { custom_state: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(state)) as unknown };
  } catch {
    return {};
  }
}
