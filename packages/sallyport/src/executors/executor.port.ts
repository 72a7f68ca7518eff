import type { Failure } from '@sallyport/std/error/failure';
import type { Fault } from '../../api/schemas/error.ts';
import type { ExecutorKind, ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import type { ToolState } from '../domain/invocation/tool-state.ts';
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

/** A call that takes back what another one did elsewhere. */
export interface CompensatingCall {
  readonly toolId: string;
  /** Version or range; the newest when absent. */
  readonly toolVersion?: string;
  /** It must stand being called when there is nothing to take back: the change may never have been made. */
  readonly parameters: Readonly<Record<string, unknown>>;
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
  /**
   * Runs what asks a person in the middle of the call: meanwhile the call holds no slot of its agent, and its silence does not
   * count. Resolves when the call has a slot again.
   * @throws what `ask` throws; the reason of the call's end
   */
  readonly whileAsking?: <Answer>(ask: () => Promise<Answer>) => Promise<Answer>;
  /** Told why a question to a person, which the tool asked in the middle of the call, was shown to nobody. */
  readonly onUnasked?: (why: string) => void;
  /** Told what a run used as soon as it is over, also when it failed; the figures of an outcome are the same. */
  readonly onUsage?: (usage: Usage) => void;
  /** Told when the executor has taken back what a failed run changed, before it throws: the call ends as rolled back. */
  readonly onRolledBack?: () => void;
  /** For changes that this layer takes back; absent where it keeps no journal. */
  readonly undo?: UndoRecorder;
  /** What the tool keeps in the layer, as a part of this call's transaction; absent where this layer keeps nothing. */
  readonly state?: ToolState;
  /**
   * Resolves when a change elsewhere may be made: if the call does not end well, the layer makes that other call for the
   * same agent, through every stage, once. Absent where this layer keeps no journal.
   * @throws E3001 and what else says that the agent may not call that tool, E3102, E3810, E3805; then the change must not
   *   be made
   */
  readonly compensateWith?: (call: CompensatingCall) => Promise<void>;
  /** Variables that the call sets, which {@link Executor.takesVariables} allows (EXE-10); absent for none. */
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
  /**
   * What a person has to be asked before this very call may run, beyond what its manifest says: a sentence that names the
   * rule and no argument of the call. Undefined when the call needs no confirmation. Changes nothing; cheap.
   */
  requiresConfirmation(call: ExecutorCall): string | undefined | Promise<string | undefined>;
  /**
   * Looks at what a call would run, before any policy is asked and whatever it would say: what this refuses never runs.
   * Pure and cheap; an executor without one refuses nothing. `execute` looks again.
   */
  screen?(tool: ToolVersion, parameters: Readonly<Record<string, unknown>>): Failure | undefined;
  /**
   * Whether a call may set environment variables for its tool: those that its manifest names, or any that decide nothing of
   * the code that runs where it names none. A call that sets one for an executor without this is refused (EXE-10).
   */
  readonly takesVariables?: 'named' | 'any';
  /** Tools that exist without being registered by anyone. */
  definitions(): readonly ToolManifest[];
  /** Faults of `executor.config` of a manifest of this kind, with JSON Pointers from the manifest's root. */
  configFaults(manifest: ToolManifest): readonly Fault[];
  /**
   * Whether all that this tool changes is state of the layer, or is taken back by calls that it names beforehand: then a
   * call that was cut off and rolled back has done nothing. Default false; file changes are always taken back as a whole.
   */
  takesBackAll?(tool: ToolVersion): boolean;
  /** Whether a failed run of this tool may be tried again as far as this executor can tell. */
  isRetryable(tool: ToolVersion): boolean;
  /**
   * Runs a call that needs no confirmation, and itself refuses one that does. Ends soon after `signal` is aborted, with
   * nothing left running.
   * @throws ToolLayerError E31xx, E33xx; E3210 for a call that `requiresConfirmation`
   */
  execute(call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome>;
  /**
   * Runs a call that a person confirmed, also one that `requiresConfirmation`, and never what is refused to everybody. For
   * an executor that never asks it is `execute`.
   */
  executeConfirmed(call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome>;
}
