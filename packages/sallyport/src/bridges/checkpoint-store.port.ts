import type { CheckpointType } from '../domain/checkpoint/checkpoint.ts';
import type { CallOwner } from '../domain/invocation/call-owner.ts';
import type { PackedState, StateElsewhere } from './state/packed-state.ts';

/** Everything of a checkpoint but its state. */
export interface CheckpointFacts {
  readonly checkpointId: string;
  /** The call that saved it. */
  readonly invocationId: string;
  /** The first call of the work: calls that resume it continue its line. */
  readonly lineId: string;
  /** Rises with every checkpoint of a line, from 1. */
  readonly sequence: number;
  readonly type: CheckpointType;
  /** Name of the milestone, or of the named checkpoint. */
  readonly label?: string;
  readonly owner: CallOwner;
  readonly toolId: string;
  readonly toolVersion: string;
  readonly phase?: string;
  readonly progressPercent?: number;
  /** Version of the form in which states are stored. */
  readonly schemaVersion: string;
  /** True when its call had made changes that are taken back if the call fails. */
  readonly afterChanges?: true;
  /** Length of the plain state in bytes. */
  readonly size: number;
  /** SHA-256 of the plain state, in hex. */
  readonly sha256: string;
  /** Present when the state is stored as the difference from another checkpoint of the line. */
  readonly parentId?: string;
  /** Epoch ms. */
  readonly savedAt: number;
  /** Epoch ms; absent for one that is kept until it is deleted. */
  readonly expiresAt?: number;
  /** When its state goes to the archive, epoch ms; absent when it does not, or is there. */
  readonly archiveAt?: number;
  /** Since when its state is in the archive, epoch ms. */
  readonly archivedAt?: number;
}

/** A checkpoint with its state, or with the object that holds it. */
export interface StoredCheckpoint extends CheckpointFacts {
  /** Undefined once it has expired. */
  readonly packed: PackedState | StateElsewhere | undefined;
}

/** The work that a call and the calls resuming it do. */
export interface CheckpointLine {
  readonly lineId: string;
  /** The call that may save. */
  readonly holder: string;
  /** Sequence of the newest checkpoint. */
  readonly newest: number;
}

/** Checkpoints, durable (STA-01, STA-05). All methods throw E3812 while the store cannot be reached. */
export interface CheckpointStore {
  /**
   * Stores a checkpoint, if its call holds the line and `sequence` follows the newest one. The first one begins the line.
   * An object of it was announced before (`CheckpointArchive`); throws when its time is over.
   * @param reporter instance that has to report it to the context server; absent: nobody has to
   * @returns false when another call holds the line, the sequence is taken, or its parent has no state any more
   */
  put(checkpoint: StoredCheckpoint, reporter?: string): Promise<boolean>;
  /** What an instance has not reported of the checkpoints that it has to, in the order in which they were saved. */
  unreported(reporter: string, limit: number): Promise<readonly CheckpointFacts[]>;
  /** The checkpoints of a line up to a sequence are reported, or need not be any more. */
  reported(tenantId: string, lineId: string, sequence: number): Promise<void>;
  /** @returns undefined for an unknown one; an expired one has no state, and is forgotten some time later */
  find(tenantId: string, checkpointId: string): Promise<StoredCheckpoint | undefined>;
  /** What a checkpoint is stored as the difference from: its parent, then that one's, at most `limit`. */
  ancestors(tenantId: string, checkpointId: string, limit: number): Promise<readonly StoredCheckpoint[]>;
  line(tenantId: string, lineId: string): Promise<CheckpointLine | undefined>;
  /** The line that a call has begun or resumed; the last one when there are several. */
  lineOf(tenantId: string, invocationId: string): Promise<CheckpointLine | undefined>;
  /** Checkpoints of a line that have not expired, newest first, at most `limit`, older than the sequence `before`. */
  list(tenantId: string, lineId: string, limit: number, before?: number): Promise<readonly CheckpointFacts[]>;
  /**
   * Gives a line to another call.
   * @returns false when `from` does not hold it any more
   */
  take(tenantId: string, lineId: string, from: string, to: string): Promise<boolean>;
  /** Moves the end of a micro checkpoint, epoch ms. */
  keepUntil(tenantId: string, checkpointId: string, expiresAt: number): Promise<void>;
  /** Removes a checkpoint, and those stored as the difference from it. @returns false when there is none */
  remove(tenantId: string, checkpointId: string): Promise<boolean>;
  /** The changes of a call are about to be taken back: removes its checkpoints with `afterChanges`, which say they are made. */
  removeAfterChanges(tenantId: string, invocationId: string): Promise<void>;
  /**
   * Ends the micro checkpoints of a line now; or, with `expiresAt`, the milestones that are not in the archive then, unless they
   * end earlier: these are not archived.
   */
  lineEnded(tenantId: string, lineId: string, expiresAt?: number): Promise<void>;
  /** Drops the states of what has expired, and after `forgetMs` its rows. @returns the number of changed rows, at most `limit` */
  expire(forgetMs: number, limit: number): Promise<number>;
  /** Removes lines that have no checkpoint and did not change for that long. @returns how many, at most `limit` */
  forgetLines(unchangedMs: number, limit: number): Promise<number>;
}
