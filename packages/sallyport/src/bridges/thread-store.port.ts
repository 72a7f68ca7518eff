import type { CallOwner } from '../domain/invocation/call-owner.ts';
import type { PackedState, StateElsewhere } from './state/packed-state.ts';

/** A value as its writer serialised it. */
export interface TypedBytes {
  /** Name of the form, such as `json`. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** One state of a thread. */
export interface ThreadPlace {
  readonly threadId: string;
  /** Empty for the graph itself; graphs within it have their own. */
  readonly namespace: string;
  /** Ids of later states of a thread are greater, as text. */
  readonly checkpointId: string;
}

/** What a task wrote on top of a state. */
export interface ThreadWrite {
  readonly taskId: string;
  /** Place of the task in the graph; may be empty. */
  readonly taskPath: string;
  /** Position among the writes of the task; negative for special ones, such as an error. */
  readonly index: number;
  readonly channel: string;
  readonly value: TypedBytes;
}

/** The value that a channel has in one version. */
export interface ChannelPlace {
  readonly channel: string;
  readonly version: string;
}

/** A state without the values of its channels. */
export interface ThreadRecord extends ThreadPlace {
  readonly parentId?: string;
  readonly state: TypedBytes;
  readonly metadata: TypedBytes;
  /** The version of each channel that has a value. A state without a parent may name some that are not stored. */
  readonly versions: Readonly<Record<string, string>>;
}

/** A value of a channel as it is stored: once for each version, however many states have it. */
export interface StoredValue extends ChannelPlace {
  /** Form of the value once it is unpacked. */
  readonly type: string;
  readonly packed: PackedState | StateElsewhere;
}

/** A state as it is stored. */
export interface StoredThreadState extends ThreadRecord {
  /** Read: the stored values of its versions. Written: the new values alone. */
  readonly values: readonly StoredValue[];
}

/** Which states are wanted; an absent member means any. */
export interface ThreadQuery extends Partial<ThreadPlace> {
  /** Only states whose id is less. */
  readonly before?: string;
  /** The last one of the previous page. */
  readonly after?: ThreadPlace;
  readonly limit: number;
}

/** What is counted for each state, value and write, beside its own bytes: names and keys of its row. */
export const THREAD_ROW_BYTES = 512;

/** What the threads of an owner take. */
export interface ThreadsUsed {
  /** Threads without the one asked for. */
  readonly others: number;
  /** Bytes of states, values and writes of all threads as they are stored, `THREAD_ROW_BYTES` more for each. */
  readonly bytes: number;
}

/** States of the threads of agents, durable (STA-07). Owners never meet. All methods throw E3812 while the store cannot be reached. */
export interface ThreadStore {
  /**
   * Stores a state, or replaces the one of that place, with values that are new. A value of a version that is there already stays.
   * Objects of values were announced before (`CheckpointArchive`).
   * @returns false, and stores nothing, when it has a parent and the value of one of its versions is neither given nor there: its
   *   thread was removed meanwhile
   */
  put(owner: CallOwner, state: StoredThreadState): Promise<boolean>;
  /** Stores writes. One that is there already stays, unless its index is negative: then it is replaced. */
  write(owner: CallOwner, place: ThreadPlace, writes: readonly ThreadWrite[]): Promise<void>;
  /** States with their writes, newest first: by id, downwards. */
  list(
    owner: CallOwner,
    query: ThreadQuery,
  ): Promise<readonly (StoredThreadState & { readonly writes: readonly ThreadWrite[] })[]>;
  /** What the owner's threads take, with one that is about to be saved. */
  used(owner: CallOwner, threadId: string): Promise<ThreadsUsed>;
  /** Removes a thread with all its states and writes. None of that id: nothing happens. */
  remove(owner: CallOwner, threadId: string): Promise<void>;
  /** Removes threads whose last change was before that time, epoch ms, the oldest first. @returns how many, at most `limit` */
  forget(changedBefore: number, limit: number): Promise<number>;
}
