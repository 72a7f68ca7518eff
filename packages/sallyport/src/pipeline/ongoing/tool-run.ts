import type { Failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Warning } from '../../../api/schemas/invocation.ts';
import type { SavedCheckpoint } from '../../domain/checkpoint/checkpoint.ts';
import type { CircuitPermit } from '../../domain/circuit/circuit.ts';
import type { CallQuestionsByKey } from '../../domain/invocation/tasks/call-question.ts';
import type { ServerTask } from '../../domain/invocation/tasks/server-task.ts';
import type { Usage } from '../../domain/invocation/usage.ts';
import type { Progress } from '../../domain/principal/principal.ts';
import type { CallFact } from '../call.ts';
import { OpenQuestions } from './open-questions.ts';
import type { Deadline } from './time/deadline.ts';

/** One failed attempt of a call that made more than one (PIPE-05). */
export interface FailedAttempt {
  /** From 1. */
  readonly attempt: number;
  readonly failure: Failure;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** The wait before the attempt, ms; 0 for the first. */
  readonly waitedMs: number;
}

/** Most checkpoints that the metadata of a call names: the newest ones. */
const CHECKPOINTS_MAX = 100;

/**
 * The run of the tool of one call: its attempts, and what the tool reports meanwhile. The stage `execute` and the
 * circuits change it; status, heartbeat and record read it, also while the tool runs.
 */
export class ToolRun {
  #attempts = 0;
  #failedAttempts: FailedAttempt[] | undefined;
  #deadline: Deadline | undefined;
  #progress: Progress | undefined;
  #usage: Usage | undefined;
  #permit: CircuitPermit | undefined;
  #isUndoing = false;
  #isAbandoned = false;
  #trialFailed = false;
  #warnings: Warning[] | undefined;
  #facts: CallFact[] | undefined;
  #questions: OpenQuestions | undefined;
  #serverTask: ServerTask | undefined;
  #checkpoints: SavedCheckpoint[] | undefined;

  /** Number of attempts that reached the executor. */
  get attempts(): number {
    return this.#attempts;
  }

  /** The failed attempts, when there was more than one attempt; undefined otherwise. */
  get failedAttempts(): readonly FailedAttempt[] | undefined {
    return this.#failedAttempts;
  }

  /** The deadline of the tool, while it runs. */
  get deadline(): Deadline | undefined {
    return this.#deadline;
  }

  /** The tool's latest report of progress. */
  get progress(): Progress | undefined {
    return this.#progress;
  }

  /** What the last attempt used, also when it failed; undefined while nothing was measured. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** The circuit's permit for the next attempt, or for the one under way; undefined when there is none (CIR-01). */
  get permit(): CircuitPermit | undefined {
    return this.#permit;
  }

  /** True when the last attempt was a trial of its circuit, and failed. */
  get trialFailed(): boolean {
    return this.#trialFailed;
  }

  /** Warnings of the run; undefined when there are none. */
  get warnings(): readonly Warning[] | undefined {
    return this.#warnings;
  }

  /** Facts of the run, audited before the end of the call; undefined when there are none. */
  get facts(): readonly CallFact[] | undefined {
    return this.#facts;
  }

  /** Questions to the client of a call for whose answer nobody waits. */
  get questions(): OpenQuestions {
    this.#questions ??= new OpenQuestions();
    return this.#questions;
  }

  /** The task of its server that this run began; undefined when it began none. */
  get serverTask(): ServerTask | undefined {
    return this.#serverTask;
  }

  /** Open questions; undefined when there never were any. */
  get openQuestions(): CallQuestionsByKey | undefined {
    return this.#questions?.wasAsked === true ? this.#questions.open : undefined;
  }

  /** The newest checkpoints, oldest first; undefined when none was saved. */
  get checkpoints(): readonly SavedCheckpoint[] | undefined {
    return this.#checkpoints;
  }

  /** The time of the tool begins. */
  begin(deadline: Deadline): void {
    this.#deadline = deadline;
  }

  /** The time of the tool is over, however the run ended. */
  end(): void {
    this.#deadline?.stop();
    this.#deadline = undefined;
  }

  /** The next attempt reaches the executor. */
  beginAttempt(): void {
    this.#attempts += 1;
    this.#isUndoing = false;
  }

  /** True once the executor undoes what this attempt changed. */
  get isUndoing(): boolean {
    return this.#isUndoing;
  }

  /** @throws E3805 when the call ended without its executor: people may have changed the files since */
  noteUndoing(): void {
    if (this.#isAbandoned) throw new ToolLayerError('E3805', 'The call is over; nothing of it is undone any more.');
    this.#isUndoing = true;
  }

  /** The call ends without its executor, which did not stop. */
  noteAbandoned(): void {
    this.#isAbandoned = true;
  }

  noteFailedAttempt(failed: FailedAttempt): void {
    this.#failedAttempts ??= [];
    this.#failedAttempts.push(failed);
  }

  noteProgress(progress: Progress): void {
    this.#progress = progress;
    this.#deadline?.progressed();
  }

  noteUsage(usage: Usage): void {
    this.#usage = usage;
  }

  noteWarning(warning: Warning): void {
    this.#warnings ??= [];
    this.#warnings.push(warning);
  }

  noteServerTask(task: ServerTask): void {
    this.#serverTask = task;
  }

  noteFact(fact: CallFact): void {
    this.#facts ??= [];
    this.#facts.push(fact);
  }

  noteCheckpoint(saved: SavedCheckpoint): void {
    this.#checkpoints ??= [];
    this.#checkpoints.push(saved);
    if (this.#checkpoints.length > CHECKPOINTS_MAX) this.#checkpoints.shift();
  }

  /** Keeps the circuit's permit for the next attempt. */
  holdPermit(permit: CircuitPermit): void {
    this.#permit = permit;
  }

  /**
   * Gives the permit back, once: a second caller gets none.
   * @param hasFailed true when the attempt that it was for failed
   */
  returnPermit(hasFailed: boolean): CircuitPermit | undefined {
    const permit = this.#permit;
    this.#permit = undefined;
    if (permit?.trial !== undefined) this.#trialFailed = hasFailed;
    return permit;
  }
}
