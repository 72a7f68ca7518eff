import type { Failure } from '@sallyport/std/error/failure';
import type { AgentSlot } from './agent-slots.ts';

/** What a worker holds of a call while it runs it: a lease that others may take over once it is not renewed (ORC-01). */
export interface CallHold {
  /** Number of the lease: a row that was written under a later one is not replaced. */
  readonly fence: number;
  /** Of the agent. Its worker took it and gives it back. */
  readonly slot: AgentSlot;
  /**
   * Asked right before a tool is reached that may not be repeated.
   * @returns false when the call is somebody else's by now: then the tool is not reached
   */
  begin(): Promise<boolean>;
  /**
   * Whether the end of this run is that of the call: not when somebody else has taken the call over, when the run made way
   * for another and did not end by itself, when this instance cannot run the tool and another may, or when there was no room
   * for it yet. What was accepted waits for room then.
   * @param attempts those that reached the executor
   */
  counts(failed: Failure | undefined, attempts: number): boolean;
}
