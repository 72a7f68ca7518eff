import type { CallKey } from '../domain/invocation/call-key.ts';

/** Who holds leases: one life of an instance. A process that starts again is another holder. */
export interface LeaseHolder {
  readonly instanceId: string;
  /** Unique among all lives of all instances. */
  readonly owner: string;
}

/** A lease that was just taken. */
export interface TakenLease {
  /** Grows with each lease of the call; 1 for its first. */
  readonly fence: number;
  /** An earlier holder may have reached the tool and said no more. */
  readonly begun: boolean;
  /** How often the call was put back while it ran. */
  readonly preemptions: number;
  /** Somebody wanted its end before anybody had it. */
  readonly cancel?: string;
  /** By how much its time was extended, in all, in ms. */
  readonly extendedMs: number;
}

/** How far a running call is, as others may read it. */
export interface HeldProgress {
  /** 0 to 100. */
  readonly percent?: number;
  /** In the words of the tool. */
  readonly phase?: string;
}

/** A call that the holder of its lease is at. */
export interface AttendedCall extends CallKey {
  /** Absent while nobody says. */
  readonly progress?: HeldProgress;
}

/** What the holder of a lease is told with each beat. */
export interface HeldCall extends CallKey {
  readonly fence: number;
  /** Somebody wants it to end, and why. */
  readonly cancel?: string;
  /** By how much its time was extended, in all, in ms. */
  readonly extendedMs: number;
}

/** What the beat of an instance brings back. */
export interface Beat {
  /** Leases of these calls that this holder still has; what is absent belongs to somebody else. */
  readonly held: readonly HeldCall[];
  /** Calls that this instance runs without a lease and that somebody wants to end; told once. */
  readonly unheld: readonly (CallKey & { readonly cancel: string })[];
  /** Instances that beat within their time, this one too. */
  readonly instances: number;
}

/** A lease as everybody may see it. */
export interface LeaseView {
  readonly instanceId: string;
  /** False once its time is over: anybody may take it. */
  readonly live: boolean;
  readonly fence: number;
  readonly progress?: HeldProgress;
}

/** A call that waits for a worker while nobody holds it. */
export interface UnattendedCall extends CallKey {
  /** Epoch ms. */
  readonly acceptedAt: number;
}

/**
 * Who runs which accepted call (ORC-01). Time is that of the store, so that the clocks of instances do not matter: a
 * lease ends `ttlMs` after its holder last took or renewed it.
 */
export interface CallLeaseStore {
  /** The lease of a call that nobody holds; undefined while somebody does. Of takers at the same time one gets it. */
  take(call: CallKey, holder: LeaseHolder, ttlMs: number): Promise<TakenLease | undefined>;
  /**
   * Says that the tool may be reached from now on. Whoever takes the lease over afterwards learns of it.
   * @returns false when the lease is another's by now: then the tool must not be reached
   */
  begin(call: CallKey, owner: string, fence: number): Promise<boolean>;
  /**
   * Renews the leases of the calls that `holder` attends to, and its instance, in one go; keeps how far calls are. What it
   * has beside them runs out: it could not give that back, and nobody is at it.
   */
  beat(holder: LeaseHolder, ttlMs: number, attended: readonly AttendedCall[]): Promise<Beat>;
  /**
   * Ends a lease and forgets it. Does nothing when it is another's. Of a call that is not over only its first lease may be
   * forgotten: the numbers begin anew, and its row is held under the highest.
   */
  release(call: CallKey, owner: string, fence: number): Promise<void>;
  /**
   * Ends a lease and leaves the call to whoever takes it next. `begun` is taken back.
   * @param counted as a preemption
   */
  putBack(call: CallKey, owner: string, fence: number, counted: boolean): Promise<void>;
  /** Forgets leases that ended and whose calls are over: who held them could not give them back. */
  forgetEnded(): Promise<void>;
  /** Undefined when nobody had it since it was last forgotten. */
  find(call: CallKey): Promise<LeaseView | undefined>;
  /**
   * Leaves word for whoever holds a call.
   * @param wish `cancel` in words, `extendMs` on top of earlier extensions
   * @returns false when nobody holds it
   */
  tell(call: CallKey, wish: { readonly cancel?: string; readonly extendMs?: number }): Promise<boolean>;
  /** Leaves word for an instance that runs a call without a lease. */
  tellInstance(call: CallKey, instanceId: string, cancel: string): Promise<void>;
  /**
   * Calls that wait for a worker on record and that nobody holds, in order of acceptance.
   * @param idleMs accepted so long ago at least, by the clock of the layer; calls whose lease ended are listed at once
   */
  unattended(limit: number, idleMs: number): Promise<readonly UnattendedCall[]>;
  /** Ends the leases of earlier lives of this instance: they are over. @returns how many */
  endFormerLives(holder: LeaseHolder): Promise<number>;
  /** Instances that stopped beating; each is given to one asker, until its time is over again. */
  takeDeadInstances(holder: LeaseHolder, ttlMs: number): Promise<readonly string[]>;
  /** What a dead instance left open is settled: it is forgotten. */
  forgetInstance(instanceId: string, owner: string): Promise<void>;
}
