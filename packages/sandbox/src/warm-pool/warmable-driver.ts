import type { SandboxDriver, SandboxProcess, SandboxSpec } from '../driver.port.ts';

/** A driver that can make a sandbox ahead of the call that it is for. */
export interface WarmableDriver extends SandboxDriver {
  /**
   * How a sandbox for this spec would be made ahead. Undefined when none can be, or the driver is not ready yet.
   * @throws what `start` throws for a spec that cannot be run
   */
  plan(spec: SandboxSpec): WarmPlan | undefined;
  /** Ends what the driver keeps ready for itself. Sandboxes that run are not touched. */
  close(): Promise<void>;
}

/** What a sandbox is made with before it has a job. Holds nothing of a call: no command, no environment. */
export interface WarmPlan {
  /** All that cannot be given later, as text. Specs with equal keys can be served by each other's sandboxes. */
  readonly key: string;
  /**
   * Makes one.
   * @throws what `start` throws, and E3101 when what the key names is not there any more
   */
  stand(): Promise<StandingSandbox>;
}

/** A sandbox that waits for its one job. It keeps no layer from ending, and ends with it. */
export interface StandingSandbox {
  /** Whether it can still be given a job. */
  waits(): boolean;
  /**
   * Gives it the job, its only one.
   * @param spec one with the key that it was made for
   * @throws when the limits of the spec cannot hold for it; it then still has to be discarded
   */
  handOff(spec: SandboxSpec): SandboxProcess;
  /** Ends one that got no job. Resolves when nothing of it is left. Idempotent. */
  discard(): Promise<void>;
}
