import type { Log } from '../../telemetry/log.ts';

/** Takes one thing back, or closes it. */
export type Step = () => void | Promise<void>;

/**
 * What one call opened and changed. `defer` closes at the end whatever became of the call; `undo` takes back only what
 * did not succeed. Both run newest first.
 */
export class UndoLog {
  #deferred: Step[] | undefined;
  #undos: { readonly step: Step; readonly changedState: boolean }[] | undefined;

  /** Runs when the call is over. */
  defer(step: Step): void {
    this.#deferred ??= [];
    this.#deferred.push(step);
  }

  /** Runs when the call does not succeed. `changedState` marks what a rollback event speaks of (PIPE-03). */
  undo(step: Step, changedState = false): void {
    this.#undos ??= [];
    this.#undos.push({ step, changedState });
  }

  /** Success: nothing is taken back any more. */
  commit(): void {
    this.#undos = undefined;
  }

  /** Takes back what is not committed. True when state was changed and is as before. */
  async rollBack(log: Log): Promise<boolean> {
    let rolledBack = false;
    for (let entry = this.#undos?.pop(); entry !== undefined; entry = this.#undos?.pop()) {
      await runStep(entry.step, log);
      rolledBack ||= entry.changedState;
    }
    return rolledBack;
  }

  /** Closes what is open. Undefined when there is nothing to wait for. */
  close(log: Log): Promise<void> | undefined {
    return this.#deferred === undefined ? undefined : closeAll(this.#deferred, log);
  }
}

async function closeAll(steps: Step[], log: Log): Promise<void> {
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) await runStep(step, log);
}

/** A step that fails must not keep the others from running. */
async function runStep(step: Step, log: Log): Promise<void> {
  try {
    const ended = step();
    if (ended !== undefined) await ended;
  } catch (cause) {
    log.error('undo-step-failed', { reason: String(cause) });
  }
}
