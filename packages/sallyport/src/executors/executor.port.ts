import type { Failure } from '@sallyport/std/error/failure';
import type { Fault } from '../../api/schemas/error.ts';
import type { CallPriority } from '../../api/schemas/invocation.ts';
import type { ExecutorKind, ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { RunCheckpoints } from '../domain/checkpoint/checkpoint.ts';
import type { CheckDocument, GivenDocument } from '../domain/document/given-document.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import type { LogListener } from '../domain/invocation/log-message.ts';
import type { ServerTask } from '../domain/invocation/tasks/server-task.ts';
import type { ToolState } from '../domain/invocation/tool-state.ts';
import type { UndoStep } from '../domain/invocation/undo-step.ts';
import type { Usage } from '../domain/invocation/usage.ts';
import type { Principal, Progress } from '../domain/principal/principal.ts';
import type { Asked, AskedClient, ClientAnswer } from '../domain/questions/client-question.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';

/** Where an executor records how to undo its changes, each before it makes the change (PIPE-03). */
export interface UndoRecorder {
  /**
   * Resolves when the step is on disk and the change may be made; the step is undone when the call fails.
   * @throws E3102 for too many or too large steps, E3805 when the call is over; then the change must not be made
   */
  record(step: UndoStep): Promise<void>;
}

/** A call that compensates a change made elsewhere. */
export interface CompensatingCall {
  readonly toolId: string;
  /** Version or range; default: the newest. */
  readonly toolVersion?: string;
  /** The tool must tolerate a call with nothing to undo: the change may never have been made. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** One call as an executor gets it: validated, allowed, and with everything it may use. */
export interface ExecutorCall {
  readonly invocationId: string;
  readonly principal: Principal;
  readonly tool: ToolVersion;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly grant: Grant;
  /** Urgency of the call, as its caller stated it; absent for normal. */
  readonly priority?: CallPriority;
  /** Values of the granted secrets, by name. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Documents of the call, for an executor that brings them to its tools in a way of its own; absent for none. */
  readonly documents?: readonly GivenDocument[];
  /** For a document server in this process; absent for every other tool. */
  readonly checkDocument?: CheckDocument;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly onProgress?: (progress: Progress) => void;
  /** Members of `_meta` of an MCP client's request, for the MCP server of the tool. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /**
   * Wraps a question to a person in the middle of the call: meanwhile the call holds no slot of its agent, and its
   * silence does not count. Resolves when the call has a slot again.
   * @throws what `ask` throws; the reason of the call's end
   */
  readonly whileAsking?: <Answer>(ask: () => Promise<Answer>) => Promise<Answer>;
  /** Called with the reason when a question of the tool's server was put to nobody. */
  readonly onUnasked?: (why: string) => void;
  /** Called with the reason when a checkpoint that the tool's server sent was not stored. */
  readonly onUnsaved?: (why: string) => void;
  /** Receives the tool's log messages; absent: nobody wants them. */
  readonly logs?: LogListener;
  /**
   * Puts a question to the client of the call, as `whileAsking` says. Never rejects before the call ends. Absent: nobody
   * can be asked.
   * @param key the tool's name for the question
   * @throws the reason of the call's end
   */
  readonly askClient?: (asked: Asked, key?: string) => Promise<ClientAnswer>;
  /** What the client can be asked, as MCP's capabilities of a client; undefined when nobody can be asked. */
  readonly clientCan?: () => AskedClient['can'] | undefined;
  /** Called with a run's usage as soon as it is over, failed or not; equal to the usage in an outcome. */
  readonly onUsage?: (usage: Usage) => void;
  /**
   * Called when the executor begins to undo a failed run's changes: the call ends when it is done, however late.
   * @throws E3805 when the call ended without the run: then nothing may be undone any more
   */
  readonly onUndoing?: () => void;
  /** Called when the executor has undone a failed run's changes, before it throws: the call ends as rolled back. */
  readonly onRolledBack?: () => void;
  /** Records changes that the layer can undo; absent while the executor is only asked for its question. */
  readonly undo?: UndoRecorder;
  /** The tool's state in the layer, as part of this call's transaction; absent like `undo`. */
  readonly state?: ToolState;
  /** States from which a later run of the work continues; absent like `undo`. */
  readonly checkpoints?: RunCheckpoints | undefined;
  /**
   * Resolves when a change elsewhere may be made: if this call fails, the layer makes the given call for the same
   * agent, through every stage, once. Absent like `undo`.
   * @throws E3001 and other errors when the agent may not call that tool, E3102, E3810, E3805; then the change must not
   *   be made
   */
  readonly compensateWith?: (call: CompensatingCall) => Promise<void>;
  /**
   * The context of the session of the call; undefined when there is none. Present when the manifest asks for it.
   * @throws ToolLayerError as calls of upstreams do
   */
  readonly sessionContext?: () => Promise<Readonly<Record<string, unknown>> | undefined>;
  /** The task of its server that an earlier run of this call began: it is asked for, and the call not made again. */
  readonly serverTask?: ServerTask;
  /**
   * Called when the server runs the call as a task, before the task is waited for; absent when it must not.
   * @returns `later`: the call is set aside, and the run ends now with {@link ExecutorOutcome.later}
   * @throws when the call cannot go on: then the task is not waited for
   */
  readonly onServerTask?: (task: ServerTask) => Promise<'here' | 'later'>;
  /**
   * The caller takes a task in place of the answer, and the tool may run twice: a run may end with
   * {@link ExecutorOutcome.later}, and a worker runs the tool again from its newest checkpoint.
   */
  readonly mayRunLater?: true;
  /** Nobody waits for the answer: a server that can is asked for a task, so that the call outlives this run. */
  readonly wantsServerTask?: true;
  /** Variables set by the call, as {@link Executor.takesVariables} allows (EXE-10); absent for none. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The result of a run. */
export interface ExecutorOutcome {
  readonly result: unknown;
  /** The tool itself reports failure; the result explains it and reaches the agent unchanged (EXE-12). */
  readonly toolError?: true;
  /** A worker gets the result later, from the server that continues the run or by a new run: `result` holds nothing. */
  readonly later?: true;
  readonly usage: Usage;
  /** JSON Pointers to whole numbers of the result that a double does not hold, and that were rounded; not empty. */
  readonly rounded?: readonly string[];
  /** How the program of a shell tool or of a skill's script ended; absent for all other tools. */
  readonly exit?: ProgramExit;
}

/** The end of a program, for the audit (002). */
export interface ProgramExit {
  /** In the shell's convention: 128 + number for a signal. */
  readonly exit_code: number;
  /** True when its output was cut. */
  readonly truncated: boolean;
}

/** Runs the tools of one kind, which are registered by their manifests: an executor brings no tools of its own (EXE-01). */
export interface Executor {
  readonly kind: ExecutorKind;
  /** True when this executor runs that tool. */
  owns(tool: ToolVersion): boolean;
  /** The program that a call runs, and its arguments; absent for kinds of tools that run none. Has no effects. */
  commandOf?(tool: ToolVersion, parameters: Readonly<Record<string, unknown>>): readonly string[];
  /**
   * The question for a person before this particular call, beyond what its manifest requires: a sentence that names the
   * rule and no argument of the call. Undefined when no confirmation is needed. Has no effects; cheap.
   */
  requiresConfirmation(call: ExecutorCall): string | undefined | Promise<string | undefined>;
  /**
   * Screens what a call would run, before and independent of any policy: a refused call never runs. Pure and cheap; an
   * executor without it refuses nothing. `execute` screens again.
   */
  screen?(tool: ToolVersion, parameters: Readonly<Record<string, unknown>>): Failure | undefined;
  /**
   * Which environment variables a call may set for its tool: `named` in the manifest, or `any` that do not influence
   * which code runs, when the manifest names none. Without this member, a call that sets one is refused (EXE-10).
   */
  readonly takesVariables?: 'named' | 'any';
  /** Faults of `executor.config` in a manifest of this kind, with JSON Pointers from the manifest's root. */
  configFaults(manifest: ToolManifest): readonly Fault[];
  /**
   * True when this tool changes only state of the layer, or is compensated by calls that it names beforehand: an
   * interrupted call that was rolled back then had no effect. Default false; file changes are always undone as a whole.
   */
  takesBackAll?(tool: ToolVersion): boolean;
  /** True when a failed run of this tool may be retried, as far as this executor knows. */
  isRetryable(tool: ToolVersion): boolean;
  /**
   * Runs a call that needs no confirmation; refuses one that does. Ends soon after `signal` is aborted, with nothing
   * left running.
   * @throws ToolLayerError E31xx, E33xx; E3210 for a call that `requiresConfirmation`
   */
  execute(call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome>;
  /**
   * Runs a call that a person confirmed, even one that `requiresConfirmation` asks about; never a call that is always
   * refused. Equal to `execute` for an executor that never asks.
   */
  executeConfirmed(call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome>;
}
