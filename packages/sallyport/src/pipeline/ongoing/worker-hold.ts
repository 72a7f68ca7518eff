import type { Failure } from '@sallyport/std/error/failure';
import type { AgentSlot } from './slots/agent-slots.ts';

/**
 * What a worker holds of a call while it runs it: a lease that other workers may take over when it is not renewed
 * (ORC-01).
 */
export interface WorkerHold {
  /** Number of the lease: a row that was written under a later lease is not replaced. */
  readonly fence: number;
  /** The agent's slot. The worker took it and gives it back. */
  readonly slot: AgentSlot;
  /**
   * Called right before the executor is reached, when the tool may not be repeated.
   * @returns false when the call belongs to another worker by now: then the tool is not reached
   */
  begin(): Promise<boolean>;
  /**
   * True when the end of this run is the end of the call. False when another worker has taken the call over, when the
   * run made way for another and did not end by itself, when this instance cannot run the tool and another may, or when
   * there was no room for it yet: an accepted call then waits for room.
   * @param attempts number of attempts that reached the executor
   */
  counts(failed: Failure | undefined, attempts: number): boolean;
}
