import type { CallKey } from '../domain/invocation/call-key.ts';

/**
 * Announces a call that waits for a worker. The work itself is in the call's row: a job may be lost, late, or doubled.
 */
export interface Job extends CallKey {
  /** Jobs are taken in ascending order of this number: epoch ms, rounded to the second. */
  readonly due: number;
}

/** Hands waiting calls to any instance that has room (ORC-01). */
export interface JobQueue extends AsyncDisposable {
  /**
   * Adds jobs; a job for a call that is in the queue already changes nothing.
   * @throws E3812 when the queue cannot take them, or is closed
   */
  add(jobs: readonly Job[]): Promise<void>;
  /**
   * Takes the job that is due first, for good. Waits some seconds for one; of several waiting instances one gets it.
   * One caller at a time for each open queue.
   * @returns undefined when none came, or when the queue is closed meanwhile
   */
  next(): Promise<CallKey | undefined>;
  /** Removes the job of one call. @returns false when there was none: another caller has taken it */
  remove(call: CallKey): Promise<boolean>;
  /** Number of jobs that nobody has taken yet. */
  length(): Promise<number>;
  /** Ends a wait and closes all connections. Jobs stay if the queue is durable. Idempotent. */
  close(): Promise<void>;
}
