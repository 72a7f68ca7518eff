import type { UndoStep } from '../../domain/invocation/undo-step.ts';
import type { Log } from '../../telemetry/log.ts';
import { type RolledBack, Transaction, type TransactionOf, type TransactionParts } from '../undo/transaction.ts';

/** Takes one thing back, or closes it. */
export type Step = () => void | Promise<void>;

/**
 * What one call opened and changed. Steps of `defer` run at the end of every call; steps of `undo` run only when the
 * call did not succeed. Both run newest first. Changes of a tool that a crash must not leave half made are recorded in
 * a transaction, which survives this process (PIPE-03).
 */
export class UndoLog {
  #deferred: Step[] | undefined;
  #undos: Step[] | undefined;
  #afterRecord: Step[] | undefined;
  #transaction: Transaction | undefined;
  /** True when the executor itself has undone what the attempt changed. */
  #rolledBackByTool = false;

  /** Registers a step that runs when the call is over. */
  defer(step: Step): void {
    this.#deferred ??= [];
    this.#deferred.push(step);
  }

  /** Registers a step that runs when the call does not succeed. */
  undo(step: Step): void {
    this.#undos ??= [];
    this.#undos.push(step);
  }

  /** Notes that the changes of the attempt are already undone. */
  sayRolledBack(): void {
    this.#rolledBackByTool = true;
  }

  /** Registers a step that runs when the success of the call is on record: it removes what a crash before that needs. */
  afterRecord(step: Step): void {
    this.#afterRecord ??= [];
    this.#afterRecord.push(step);
  }

  /** Records how a change is undone; resolves when the change may be made. */
  record(parts: TransactionParts, of: TransactionOf, step: UndoStep): Promise<void> {
    this.#transaction ??= new Transaction(parts, of);
    return this.#transaction.record(step);
  }

  /** Another attempt begins, and may record again. */
  reopen(): void {
    this.#transaction?.reopen();
  }

  /** True when changes are recorded that are not taken back yet. */
  get hasChanges(): boolean {
    return this.#transaction?.hasSteps === true;
  }

  /** Makes a change whose step is recorded. */
  change<Result>(make: () => Promise<Result>): Promise<Result> {
    return this.#transaction === undefined ? make() : this.#transaction.change(make);
  }

  /** Before another attempt: undoes what the last attempt changed, and nothing else. */
  async rollBackAttempt(log: Log): Promise<RolledBack> {
    this.#rolledBackByTool = false;
    return (await this.#transaction?.rollBack(log)) ?? 'nothing';
  }

  /**
   * Undoes what the call changed.
   * @param isEnd false when the call runs again later: then it keeps what it holds as a call, above all its idempotency
   *   key
   */
  async rollBack(log: Log, isEnd: boolean): Promise<RolledBack> {
    if (!isEnd) this.#undos = undefined;
    const changes = this.#transaction === undefined ? 'nothing' : await this.#transaction.rollBack(log);
    await runAll(this.#undos, log);
    if (changes === 'nothing' && this.#rolledBackByTool) return 'done';
    return changes;
  }

  /** The end of the call is on record. */
  recorded(log: Log): Promise<void> {
    this.#transaction?.recorded(log);
    return runAll(this.#afterRecord, log);
  }

  /** Closes what is open. */
  close(log: Log): Promise<void> {
    return runAll(this.#deferred, log);
  }
}

/** Runs the steps, newest first, each once. */
async function runAll(steps: Step[] | undefined, log: Log): Promise<void> {
  for (let step = steps?.pop(); step !== undefined; step = steps?.pop()) await runStep(step, log);
}

/** Runs one step; its failure must not keep the others from running. */
async function runStep(step: Step, log: Log): Promise<void> {
  try {
    await step();
  } catch (cause) {
    log.error('undo-step-failed', { reason: String(cause) });
  }
}
