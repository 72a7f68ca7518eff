import type { CheckpointFacts } from './checkpoint-store.port.ts';
import type { PackedState, StateElsewhere } from './state/packed-state.ts';

/** An object in the object store, and whose it is. */
export interface NamedObject {
  readonly tenantId: string;
  readonly name: string;
}

/**
 * Which object belongs to which checkpoint (STA-03, STA-06). An object is announced before it is written, and known until it is
 * removed, so that none is forgotten however the layer ends. All methods throw E3812 while the store cannot be reached.
 */
export interface CheckpointArchive {
  /** An object will be written. Unless a checkpoint has it before `removeAfter`, epoch ms, it is removed then. */
  announce(object: NamedObject, removeAfter: number): Promise<void>;
  /** Checkpoints whose time to be archived has come, the oldest first, without the first `skipped` of them. */
  due(limit: number, skipped: number): Promise<readonly CheckpointFacts[]>;
  /**
   * The state of a checkpoint is somewhere else from now on; an object that held it is removed. Throws for an announced object
   * whose time is over.
   * @param times an absent one is none from now on
   * @returns false for a checkpoint that is unknown or has expired
   */
  move(
    tenantId: string,
    checkpointId: string,
    packed: PackedState | StateElsewhere,
    times: Pick<CheckpointFacts, 'archiveAt' | 'archivedAt'>,
  ): Promise<boolean>;
  /** Objects that belong to no checkpoint any more, or never did. */
  unused(limit: number): Promise<readonly NamedObject[]>;
  /** An unused object was removed. */
  removed(object: NamedObject): Promise<void>;
}
