import type { CallKey } from '../domain/invocation/call-key.ts';

/** Says that a call waits for a worker. What there is to do stands in its row: a job may be lost, late, or there twice. */
export interface Job extends CallKey {
  /** Jobs come out in order of this number: epoch ms, to the second. */
  readonly due: number;
}

/** Hands waiting calls to whichever instance has room (ORC-01). */
export interface JobQueue extends AsyncDisposable {
  /**
   * Adds jobs; one for a call that stands in the queue already changes nothing.
   * @throws E3812 when the queue cannot take them, or is closed
   */
  add(jobs: readonly Job[]): Promise<void>;
  /**
   * Takes the job that is due first, out for good. Waits for one for some seconds; of those who wait at the same time one
   * gets it. One caller at a time for each open queue.
   * @returns undefined when none came, or when the queue is closed meanwhile
   */
  next(): Promise<CallKey | undefined>;
  /** Takes out the job of one call. @returns false when there was none: somebody has taken it */
  remove(call: CallKey): Promise<boolean>;
  /** Jobs that nobody has taken yet. */
  length(): Promise<number>;
  /** Ends a wait and closes what is open. Jobs stay, where they last. Idempotent. */
  close(): Promise<void>;
}
