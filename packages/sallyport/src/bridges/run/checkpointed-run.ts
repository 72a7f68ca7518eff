import type { Clock } from '@sallyport/std/clock';
import type { RestoredCheckpoint, RunCheckpoints, SavedCheckpoint } from '../../domain/checkpoint/checkpoint.ts';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import type { Log } from '../../telemetry/log.ts';
import type { CheckpointArchive } from '../checkpoint-archive.port.ts';
import type { CheckpointFacts, CheckpointLine, CheckpointStore } from '../checkpoint-store.port.ts';
import type { ObjectStore } from '../object-store.port.ts';
import type { CheckpointSettings } from '../settings.ts';

/** A run of a tool that may save checkpoints. */
export interface CheckpointedRun {
  readonly invocationId: string;
  readonly owner: CallOwner;
  readonly toolId: string;
  readonly toolVersion: string;
  /** Ms between two states that the layer takes, 0 for none; default: the setting. */
  readonly intervalMs?: number;
  /** Whether bytes hold the value of a secret that the call received; absent: it received none (SBX-05). */
  readonly holdsSecret?: (bytes: Uint8Array) => Promise<boolean>;
  /** Whether the call has made changes that are taken back if it fails; absent: it makes none. */
  readonly hasChanges?: () => boolean;
  /** Called after each saved checkpoint. */
  readonly onSaved: (saved: SavedCheckpoint, label: string | undefined) => void;
}

/** The run of one call, with all its attempts. */
export interface OpenRun {
  /** The checkpoints of the next attempt, which continues from the newest one; those of earlier attempts save no more. */
  ofAttempt(): RunCheckpoints;
  /** Ends the timer; nothing is saved any more. */
  close(): void;
}

/** Restored state of a run, and the damaged checkpoints that were passed over for it. */
export interface Continuation {
  readonly line: CheckpointLine;
  readonly restored: RestoredCheckpoint | undefined;
  readonly damaged: readonly string[];
}

/** Is notified of what is stored. Never throws, and keeps nobody waiting. */
export interface CheckpointListener {
  /** This instance: what it has not reported when it ends, it reports after its next start. */
  readonly instanceId: string;
  /** Whether checkpoints of a tenant are reported. */
  reports(tenantId: string): boolean;
  /** @param state the plain state */
  saved(checkpoint: CheckpointFacts, state: Uint8Array): void;
  /** A call continues the work from this checkpoint, because its caller named it. */
  resumed(checkpoint: CheckpointFacts): void;
}

/** Dependencies of the checkpoints. */
export interface CheckpointParts {
  readonly listener: CheckpointListener;
  readonly store: CheckpointStore;
  readonly archive: CheckpointArchive;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: CheckpointSettings;
}
