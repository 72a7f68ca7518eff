import type { Clock } from '@sallyport/std/clock';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import type { RestoredCheckpoint, SavedCheckpoint } from '../../domain/invocation/checkpoint.ts';
import type { Log } from '../../telemetry/log.ts';
import type { CheckpointLine, CheckpointStore } from '../checkpoint-store.port.ts';
import type { CheckpointSettings } from '../settings.ts';

/** A run of a tool that may save checkpoints. */
export interface CheckpointedRun {
  readonly invocationId: string;
  readonly owner: CallOwner;
  readonly toolId: string;
  readonly toolVersion: string;
  /** Aborted when the run is over: nothing is saved any more. */
  readonly signal: AbortSignal;
  /** Ms between two states that the layer takes; default: the setting. */
  readonly intervalMs?: number;
  /** Called after each saved checkpoint. */
  readonly onSaved: (saved: SavedCheckpoint, label: string | undefined) => void;
}

/** Restored state of a run, and the damaged checkpoints that were passed over for it. */
export interface Continuation {
  readonly line: CheckpointLine;
  readonly restored: RestoredCheckpoint | undefined;
  readonly damaged: readonly string[];
}

/** Dependencies of the checkpoints. */
export interface CheckpointParts {
  readonly store: CheckpointStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: CheckpointSettings;
}
