import type { Fault } from '../../api/schemas/error.ts';
import type { ExecutorKind, ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { Failure } from '../domain/error/failure.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import type { UndoStep } from '../domain/invocation/undo-step.ts';
import type { Usage } from '../domain/invocation/usage.ts';
import type { Principal, Progress } from '../domain/principal/principal.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';

/** Where an executor writes down how its changes are taken back, each before it makes the change (PIPE-03). */
export interface UndoRecorder {
  /**
   * Resolves when the step is on the disk and the change may be made; when the call does not end well, it is taken back.
   * @throws E3102 for too many or too large steps, E3805 when the call is over; then the change must not be made
   */
  record(step: UndoStep): Promise<void>;
}

/** One call as an executor sees it: checked, allowed, and with everything it may use. */
export interface ExecutorCall {
  readonly invocationId: string;
  readonly principal: Principal;
  readonly tool: ToolVersion;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly grant: Grant;
  /** Values of the granted secrets, by name. */
  readonly secrets: ReadonlyMap<string, string>;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly onProgress?: (progress: Progress) => void;
  /** Told when the executor has taken back what a failed run changed, before it throws: the call ends as rolled back. */
  readonly onRolledBack?: () => void;
  /** For changes that this layer takes back; absent where it keeps no journal. */
  readonly undo?: UndoRecorder;
  /** Variables that the call sets for its skill (EXE-10); other executors pass over them. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** What a run gave. */
export interface ExecutorOutcome {
  readonly result: unknown;
  /** The tool itself says that it failed; the result explains it and reaches the agent as it is (EXE-12). */
  readonly toolError?: true;
  readonly usage: Usage;
}

/** Runs the tools of one kind (EXE-01). */
export interface Executor {
  readonly kind: ExecutorKind;
  /** Whether this executor runs that tool. */
  owns(tool: ToolVersion): boolean;
  /** Whether this very call needs a person's yes beyond what the manifest says. */
  requiresConfirmation(call: ExecutorCall): boolean;
  /**
   * Looks at what a call would run, before any policy is asked and whatever it would say: what this refuses never runs.
   * Pure and cheap; an executor without one refuses nothing. `execute` looks again.
   */
  screen?(tool: ToolVersion, parameters: Readonly<Record<string, unknown>>): Failure | undefined;
  /** Tools that exist without being registered by anyone. */
  definitions(): readonly ToolManifest[];
  /** Faults of `executor.config` of a manifest of this kind, with JSON Pointers from the manifest's root. */
  configFaults(manifest: ToolManifest): readonly Fault[];
  /** Whether a failed run of this tool may be tried again as far as this executor can tell. */
  isRetryable(tool: ToolVersion): boolean;
  /**
   * Runs a call that needs no confirmation. Ends soon after `signal` is aborted, with nothing left running.
   * @throws ToolLayerError E31xx, E33xx
   */
  execute(call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome>;
  /** Runs a call that a person confirmed. A separate path: it never skips a check that `execute` makes. */
  executeConfirmed(call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome>;
}
