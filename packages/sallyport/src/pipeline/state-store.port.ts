/** The tool and tenant that values belong to. */
export interface StateScope {
  readonly tenantId: string;
  /**
   * Tenant that registered the tool: a catalogue tool and a tenant's own tool with the same id keep separate values.
   */
  readonly ownerId: string;
  readonly toolId: string;
}

/** One value of a tool. */
export interface StateKey extends StateScope {
  readonly name: string;
}

/** A call that has written and is not over; under a lease, one run of that call. */
export interface StateHolder {
  readonly tenantId: string;
  readonly invocationId: string;
  /** Number of the run's lease; 0 without one. */
  readonly fence: number;
}

/** The state under a key. */
export interface HeldState {
  /** JSON text left by completed calls; undefined when they left nothing. */
  readonly value: string | undefined;
  /** Changes with every change that stays, and never repeats; 0 when nothing is stored. */
  readonly revision: number;
  /** A call that has written and is not over, and its value: JSON text, undefined for a removal. */
  readonly held?: { readonly by: StateHolder; readonly next: string | undefined };
}

/** A write of one call. */
export interface StateWrite {
  readonly key: StateKey;
  readonly by: StateHolder;
  /** JSON text; undefined removes. */
  readonly next: string | undefined;
  /** Revision that the writer has read; undefined when it has read none. */
  readonly expected?: number;
  /** Values of one tool of one tenant; one more is refused. */
  readonly valuesMax: number;
}

/**
 * Result of a write. Refused when another call holds the key, when the value is not the one the writer read, or when
 * there is no room.
 */
export type StateWritten = 'written' | 'changed' | 'full' | { readonly heldBy: StateHolder };

/** The values that tools keep, and what calls under way have written of them (PIPE-03). */
export interface StateStore {
  /** Undefined when nothing is stored there and no call has written it. */
  read(key: StateKey): Promise<HeldState | undefined>;
  /**
   * Writes for one call, atomically: the value of completed calls stays beside it until `keep`. A holder may write
   * again, regardless of `expected`. The write may be lost with the database server as long as nothing that follows it
   * is on the disk.
   */
  write(write: StateWrite): Promise<StateWritten>;
  /** Makes the call's writes final. Nothing happens when it holds nothing. */
  keep(by: StateHolder): Promise<void>;
  /** Discards the call's writes. Nothing happens when it holds nothing. */
  discard(by: StateHolder): Promise<void>;
}
