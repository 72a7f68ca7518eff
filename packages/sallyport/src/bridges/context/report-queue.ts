import { setTimeout as sleep } from 'node:timers/promises';
import { entryOf } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { ownerKey } from '../../domain/invocation/call-owner.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Report, ReportStep } from './report.ts';

/** Tasks that are reported at once. */
const AT_ONCE = 4;
/** How often a report is tried while the server cannot be reached. */
const TRIES = 5;
/** Steps of one task that wait, at most. */
const STEPS_MAX = 50;

/** Dependencies of the queue. */
export interface ReportQueueParts {
  /** Asks the server. @throws ToolLayerError */
  readonly send: (report: Omit<Report, 'steps'>, step: ReportStep, signal: AbortSignal) => Promise<void>;
  /** Notes that the checkpoints of a task up to a sequence are reported, so that no later start reports them again. */
  readonly reported: (report: Omit<Report, 'steps'>, sequence: number) => Promise<void>;
  readonly log: Log;
  /** Steps of all tasks that wait. */
  readonly reportsMax: number;
  /** Pauses after a failure, ms, doubled each time. */
  readonly pauseMs?: number;
  /** How long what waits is still sent when the queue is closed, ms. */
  readonly closeMs?: number;
}

/** Reports of one task that wait, in their order. */
interface Waiting extends Omit<Report, 'steps'> {
  steps: ReportStep[];
}

/** Sends reports in the background, those of one task in their order. */
export class ReportQueue implements AsyncDisposable {
  readonly #parts: ReportQueueParts;
  readonly #waiting = new Map<string, Waiting>();
  readonly #active = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  #steps = 0;

  constructor(parts: ReportQueueParts) {
    this.#parts = parts;
  }

  /** Never throws; a report for which there is no room is dropped, and the log says so. */
  add({ owner, taskId, steps }: Report): void {
    if (this.#stop.signal.aborted) return;
    const key = JSON.stringify([ownerKey(owner), taskId]);
    const waiting = this.#waiting.get(key) ?? { owner, taskId, steps: [] };
    for (const step of steps) this.#addStep(waiting, step);
    if (waiting.steps.length === 0) return;
    this.#waiting.set(key, waiting);
    this.#begin();
  }

  /** Resolves when all that was added has been sent or given up. */
  async settled(): Promise<void> {
    while (this.#active.size > 0) await Promise.all(this.#active.values());
  }

  /** Sends what waits, for a short time; then ends what is being sent, and drops the rest. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { closeMs = 2_000 } = this.#parts;
    const late = new AbortController();
    await Promise.race([this.settled(), sleep(closeMs, undefined, { signal: late.signal }).catch(() => undefined)]);
    late.abort();
    this.#stop.abort();
    if (this.#steps > 0) this.#parts.log.warn('context-reports-dropped', { reports: this.#steps });
    this.#waiting.clear();
    await this.settled();
  }

  #addStep({ taskId, steps }: Waiting, step: ReportStep): void {
    // Of two snapshots that nothing stands between, only the newer one counts.
    const replaces = step.tool === 'save_context_snapshot' && steps.at(-1)?.tool === step.tool;
    if (replaces) steps.pop();
    else if (this.#steps >= this.#parts.reportsMax || steps.length >= STEPS_MAX) {
      this.#parts.log.warn('context-report-dropped', { task: taskId, code: 'E3701' });
      return;
    } else this.#steps += 1;
    steps.push(step);
  }

  #begin(): void {
    for (const [key, waiting] of this.#waiting) {
      if (this.#active.size >= AT_ONCE) return;
      if (this.#active.has(key)) continue;
      const ended = this.#sendAll(key, waiting).finally(() => {
        this.#active.delete(key);
        this.#begin();
      });
      this.#active.set(key, ended);
    }
  }

  async #sendAll(key: string, waiting: Waiting): Promise<void> {
    for (let step = waiting.steps[0]; step !== undefined; step = waiting.steps[0]) {
      waiting.steps = waiting.steps.slice(1);
      const isSent = await this.#send(waiting, step);
      if (isSent && 'upTo' in step && step.upTo !== undefined) await this.#note(waiting, step.upTo);
      this.#steps -= 1;
      if (this.#stop.signal.aborted) return;
    }
    this.#waiting.delete(key);
  }

  async #note(of: Waiting, sequence: number): Promise<void> {
    await this.#parts.reported(of, sequence).catch((cause: unknown) => {
      this.#parts.log.warn('context-report-not-noted', { task: of.taskId, reason: String(cause) });
    });
  }

  /**
   * Tried again while the server cannot be reached; a refusal is final. Never rejects.
   * @returns false when it is left for the next start
   */
  async #send(of: Waiting, step: ReportStep): Promise<boolean> {
    const { signal } = this.#stop;
    let pauseMs = this.#parts.pauseMs ?? 1_000;
    for (let tried = 1; !signal.aborted; tried += 1) {
      try {
        await this.#parts.send(of, step, signal);
        return true;
      } catch (thrown) {
        const { code } = failureOf(thrown);
        if (!entryOf(code).retryable || tried >= TRIES) {
          this.#parts.log.warn('context-report-failed', { task: of.taskId, tool: step.tool, code, tries: tried });
          return !entryOf(code).retryable;
        }
      }
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      pauseMs *= 2;
    }
    return false;
  }
}
