import type { SandboxDriver, SandboxProcess, SandboxSpec } from '../driver.port.ts';

/** A driver that can make a sandbox before its call. */
export interface WarmableDriver extends SandboxDriver {
  /**
   * How a sandbox for this spec would be made in advance. Undefined when that is impossible, or the driver is not ready
   * yet.
   * @throws what `start` throws for a spec that cannot be run
   */
  plan(spec: SandboxSpec): WarmPlan | undefined;
  /** Ends the driver's own stock. Running sandboxes are not affected. */
  close(): Promise<void>;
}

/** The parts that a sandbox is made with before it has a job. Holds nothing of a call: no command, no environment. */
export interface WarmPlan {
  /** Everything that cannot be set later, as text. Sandboxes and specs with equal keys fit each other. */
  readonly key: string;
  /**
   * Makes one.
   * @throws what `start` throws, and E3101 when something in the key no longer exists
   */
  stand(): Promise<StandingSandbox>;
}

/** A sandbox that waits for its one job. It does not keep the layer alive, and ends with it. */
export interface StandingSandbox {
  /** True while it can be given a job. */
  waits(): boolean;
  /**
   * Gives it its only job.
   * @param spec a spec with the key that it was made for
   * @throws when the limits of the spec cannot be applied; it must then still be discarded
   */
  handOff(spec: SandboxSpec): SandboxProcess;
  /** Ends one without a job. Resolves when nothing of it is left. Idempotent. */
  discard(): Promise<void>;
}
