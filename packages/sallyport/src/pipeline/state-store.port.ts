/** Which tool of which tenant keeps the values. */
export interface StateScope {
  readonly tenantId: string;
  /** Tenant that registered the tool: the catalogue's and a tenant's own tool of one id keep their values apart. */
  readonly ownerId: string;
  readonly toolId: string;
}

/** One value of a tool. */
export interface StateKey extends StateScope {
  readonly name: string;
}

/** A call that has written and is not over; of a run under a lease, that very run. */
export interface StateHolder {
  readonly tenantId: string;
  readonly invocationId: string;
  /** Number of the lease of the run; 0 without one. */
  readonly fence: number;
}

/** What stands under a key. */
export interface HeldState {
  /** JSON text of what completed calls left; undefined when they left nothing. */
  readonly value: string | undefined;
  /** Another number after each change that stays, never one that was there before; 0 where nothing stands. */
  readonly revision: number;
  /** A call that has written, and what: JSON text, undefined for a removal. */
  readonly held?: { readonly by: StateHolder; readonly next: string | undefined };
}

/** A write of one call. */
export interface StateWrite {
  readonly key: StateKey;
  readonly by: StateHolder;
  /** JSON text; undefined removes. */
  readonly next: string | undefined;
  /** Revision that the writer has read; undefined when it has read nothing. */
  readonly expected?: number;
  /** Values of one tool of one tenant; one more is refused. */
  readonly valuesMax: number;
}

/** What became of a write: another call has the key, the value is another than the writer read, or there is no room. */
export type StateWritten = 'written' | 'changed' | 'full' | { readonly heldBy: StateHolder };

/** The values that tools keep, and what calls under way have written of them (PIPE-03). */
export interface StateStore {
  /** Undefined when nothing stands there and no call has written it. */
  read(key: StateKey): Promise<HeldState | undefined>;
  /**
   * Writes for one call, atomically: what completed calls left stays beside it until `keep`. A holder may write again,
   * whatever is expected. The write may be lost with the database server as long as nothing that follows it is on the disk.
   */
  write(write: StateWrite): Promise<StateWritten>;
  /** What the call has written stays. Nothing happens when it holds nothing. */
  keep(by: StateHolder): Promise<void>;
  /** What the call has written is gone. Nothing happens when it holds nothing. */
  discard(by: StateHolder): Promise<void>;
}
