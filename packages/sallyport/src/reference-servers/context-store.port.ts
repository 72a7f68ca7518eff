import type { CallOwner } from '../domain/invocation/call-owner.ts';

/** What made a version of a context. */
export type ContextChange = 'saved' | 'switched' | 'rolled_back';

/** One version of the context of a task, without the context. */
export interface ContextVersionFacts {
  readonly taskId: string;
  /** Rises with each change, from 1. */
  readonly version: number;
  readonly change: ContextChange;
  readonly sessionId?: string;
  /** Epoch ms. */
  readonly savedAt: number;
}

/** One version of the context of a task. It never changes. */
export interface StoredContext extends ContextVersionFacts {
  readonly context: Readonly<Record<string, unknown>>;
}

/** A version that has a name, and is kept until its task is removed. */
export interface ContextCheckpointFacts {
  readonly checkpointId: string;
  readonly taskId: string;
  readonly version: number;
  readonly label: string;
  readonly type: 'micro' | 'macro' | 'named';
  readonly description?: string;
  /** Epoch ms. */
  readonly createdAt: number;
}

/** A checkpoint with the context of its version. */
export interface StoredContextCheckpoint extends ContextCheckpointFacts {
  readonly context: Readonly<Record<string, unknown>>;
}

/** How much is kept of each task. */
export interface ContextBounds {
  /** Newest versions of a task. */
  readonly versionsMax: number;
  /** Checkpoints of a task. */
  readonly checkpointsMax: number;
  /** Tasks of an owner. */
  readonly tasksMax: number;
}

/**
 * Contexts of tasks, durable (STA-04). Each belongs to its owner: tenant, agent and user together. All methods throw E3812
 * while the store cannot be reached.
 */
export interface ContextStore {
  /**
   * Stores a version, if it follows the newest one of its task, and drops the oldest ones beyond the bound.
   * @returns `stale` when another version was stored meanwhile, `full` when the owner has as many tasks as it may
   */
  put(owner: CallOwner, stored: StoredContext, bounds: ContextBounds): Promise<'stored' | 'stale' | 'full'>;
  /** The newest version; undefined for a task without one. */
  newest(owner: CallOwner, taskId: string): Promise<StoredContext | undefined>;
  /** Undefined for an unknown version, and for one that is not kept any more. */
  version(owner: CallOwner, taskId: string, version: number): Promise<StoredContext | undefined>;
  /** Kept versions, newest first, at most `limit`. */
  versions(owner: CallOwner, taskId: string, limit: number): Promise<readonly ContextVersionFacts[]>;
  /**
   * Names a version, and keeps its context.
   * @returns `gone` when the version is not kept any more, `full` when the task has as many checkpoints as it may
   */
  addCheckpoint(
    owner: CallOwner,
    checkpoint: ContextCheckpointFacts,
    bounds: ContextBounds,
  ): Promise<'stored' | 'gone' | 'full'>;
  /** Checkpoints of a task, newest first, at most `limit`. */
  checkpoints(owner: CallOwner, taskId: string, limit: number): Promise<readonly ContextCheckpointFacts[]>;
  /** Undefined for one that is unknown, or another task's. */
  checkpoint(owner: CallOwner, taskId: string, checkpointId: string): Promise<StoredContextCheckpoint | undefined>;
  /** Removes the owner's oldest task without a named checkpoint. @returns false when there is none */
  forgetOldest(owner: CallOwner): Promise<boolean>;
  /** Removes the tasks without a named checkpoint whose newest version is older than epoch ms. @returns how many, at most `limit` */
  forget(savedBefore: number, limit: number): Promise<number>;
}
