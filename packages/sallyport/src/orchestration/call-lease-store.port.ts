import type { CallKey } from '../domain/invocation/call-key.ts';
import type { CallQuestionsByKey } from '../domain/invocation/tasks/call-question.ts';

/** A holder of leases: one life of an instance. A restarted process is another holder. */
export interface LeaseHolder {
  readonly instanceId: string;
  /** Unique among all lives of all instances. */
  readonly owner: string;
}

/** A lease that was just taken. */
export interface TakenLease {
  /** Grows with each lease of the call; 1 for its first. */
  readonly fence: number;
  /** True when an earlier holder may have reached the tool without reporting the end. */
  readonly begun: boolean;
  /** Number of times that the call was put back while it ran. */
  readonly preemptions: number;
  /** Reason of a cancel that was requested before anybody held the call. */
  readonly cancel?: string;
  /** Total extension of its time, in ms. */
  readonly extendedMs: number;
}

/** Progress of a running call, as others may read it. */
export interface HeldProgress {
  /** 0 to 100. */
  readonly percent?: number;
  /** Text from the tool. */
  readonly phase?: string;
  /** Open questions to the client; absent when there never were any. */
  readonly questions?: CallQuestionsByKey;
}

/** A call that the holder of its lease works on. */
export interface AttendedCall extends CallKey {
  /** Absent until progress is reported. */
  readonly progress?: HeldProgress;
}

/** What the holder of a lease learns with each beat. */
export interface HeldCall extends CallKey {
  readonly fence: number;
  /** Reason of a requested cancel. */
  readonly cancel?: string;
  /** Every answer that was left for it, by key of the question. */
  readonly answers?: Readonly<Record<string, unknown>>;
  /** Total extension of its time, in ms. */
  readonly extendedMs: number;
}

/** A request to the holder of a call. */
export interface HolderWish {
  readonly cancel?: string;
  readonly extendMs?: number;
  readonly answers?: Readonly<Record<string, unknown>>;
}

/** The result of an instance's beat. */
export interface Beat {
  /** Those of the named calls whose lease this holder still has; a missing call belongs to another holder. */
  readonly held: readonly HeldCall[];
  /** Calls that this instance runs without a lease and that are to be cancelled; reported once. */
  readonly unheld: readonly (CallKey & { readonly cancel: string })[];
  /** Number of instances whose beats are not overdue, this one included. */
  readonly instances: number;
}

/** A lease as anybody may read it. */
export interface LeaseView {
  /** False once it has expired: anybody may take it. */
  readonly live: boolean;
  readonly progress?: HeldProgress;
}

/** A call that waits for a worker and that nobody holds. */
export interface UnattendedCall extends CallKey {
  /** Epoch ms. */
  readonly acceptedAt: number;
}

/**
 * Records which instance runs which accepted call (ORC-01). Time is that of the store, so that the clocks of instances
 * do not matter: a lease ends `ttlMs` after its holder last took or renewed it.
 */
export interface CallLeaseStore {
  /**
   * Takes the lease of a call that nobody holds; undefined while another holder has it. Of simultaneous takers one gets
   * it.
   */
  take(call: CallKey, holder: LeaseHolder, ttlMs: number): Promise<TakenLease | undefined>;
  /**
   * Records that the tool may be reached from now on; the next taker of the lease learns of it.
   * @returns false when the lease is another's by now: then the tool must not be reached
   */
  begin(call: CallKey, owner: string, fence: number): Promise<boolean>;
  /**
   * Renews, in one statement, the instance of `holder` and the leases of its calls, and stores their progress. Its
   * other leases expire: it failed to give them back, and nobody works on them.
   */
  beat(holder: LeaseHolder, ttlMs: number, attended: readonly AttendedCall[]): Promise<Beat>;
  /**
   * Ends a lease and deletes it, unless a cancel was requested, which the next taker learns of. Does nothing when it is
   * another's. For a call that is not over, only its first lease may be deleted: numbers begin anew, while its row keeps
   * the highest one.
   */
  release(call: CallKey, owner: string, fence: number): Promise<void>;
  /**
   * Ends a lease and leaves the call to the next taker. Clears `begun`.
   * @param counted true when it counts as a preemption
   */
  putBack(call: CallKey, owner: string, fence: number, counted: boolean): Promise<void>;
  /** Deletes expired leases of calls that are over: their holders could not give them back. */
  forgetEnded(): Promise<void>;
  /** Undefined when nobody has held it since its last deletion. */
  find(call: CallKey): Promise<LeaseView | undefined>;
  /**
   * Leaves a request for the holder of a call.
   * @param wish `cancel` with a reason, `extendMs` on top of earlier extensions, `answers` beside earlier ones
   * @returns false when nobody holds the call
   */
  notifyHolder(call: CallKey, wish: HolderWish): Promise<boolean>;
  /** Leaves a cancel request for an instance that runs a call without a lease. */
  notifyInstance(call: CallKey, instanceId: string, cancel: string): Promise<void>;
  /**
   * Calls on record that wait for a worker and that nobody holds, in order of acceptance.
   * @param idleMs least age since acceptance, by the clock of the layer; calls whose lease expired are listed at once
   */
  unattended(limit: number, idleMs: number): Promise<readonly UnattendedCall[]>;
  /** Ends the leases of this instance's earlier lives. @returns how many */
  endFormerLives(holder: LeaseHolder): Promise<number>;
  /** Instances that stopped beating; each is assigned to one asker at a time, for the length of its time to live. */
  takeDeadInstances(holder: LeaseHolder, ttlMs: number): Promise<readonly string[]>;
  /** Deletes a dead instance after its open calls are settled. */
  forgetInstance(instanceId: string, owner: string): Promise<void>;
}
