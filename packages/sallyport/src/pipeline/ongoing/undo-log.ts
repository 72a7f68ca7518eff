import type { UndoStep } from '../../domain/invocation/undo-step.ts';
import type { Log } from '../../telemetry/log.ts';
import { type RolledBack, Transaction, type TransactionOf, type TransactionParts } from '../undo/transaction.ts';

/** Takes one thing back, or closes it. */
export type Step = () => void | Promise<void>;

/**
 * What one call opened and changed. `defer` closes at the end whatever became of the call; `undo` takes back only what
 * did not succeed. Both run newest first. What a tool changed and a crash must not leave half made is recorded in a
 * transaction, which survives this process (PIPE-03).
 */
export class UndoLog {
  #deferred: Step[] | undefined;
  #undos: Step[] | undefined;
  #transaction: Transaction | undefined;
  /** The executor has taken back by itself what the attempt changed. */
  #rolledBackByTool = false;

  /** Runs when the call is over. */
  defer(step: Step): void {
    this.#deferred ??= [];
    this.#deferred.push(step);
  }

  /** Runs when the call does not succeed. */
  undo(step: Step): void {
    this.#undos ??= [];
    this.#undos.push(step);
  }

  /** What the attempt changed is as before already. */
  sayRolledBack(): void {
    this.#rolledBackByTool = true;
  }

  /** Writes down how a change is taken back; resolves when the change may be made. */
  record(parts: TransactionParts, of: TransactionOf, step: UndoStep): Promise<void> {
    this.#transaction ??= new Transaction(parts, of);
    return this.#transaction.record(step);
  }

  /** Another attempt begins, and may record again. */
  reopen(): void {
    this.#transaction?.reopen();
  }

  /** Makes a change whose step is recorded. */
  change<Result>(make: () => Promise<Result>): Promise<Result> {
    return this.#transaction === undefined ? make() : this.#transaction.change(make);
  }

  /** Success: nothing is taken back any more. */
  commit(): void {
    this.#undos = undefined;
  }

  /** Before another attempt: takes back what the last one changed, and nothing else. */
  async rollBackAttempt(log: Log): Promise<RolledBack> {
    this.#rolledBackByTool = false;
    return (await this.#transaction?.rollBack(log)) ?? 'nothing';
  }

  /**
   * Takes back what is not committed.
   * @param isEnd false when the call runs again later: then it keeps what it holds as a call, its idempotency key above all
   */
  async rollBack(log: Log, isEnd = true): Promise<RolledBack> {
    if (!isEnd) this.#undos = undefined;
    const changes = this.#transaction === undefined ? 'nothing' : await this.#transaction.rollBack(log);
    for (let step = this.#undos?.pop(); step !== undefined; step = this.#undos?.pop()) await runStep(step, log);
    if (changes === 'nothing' && this.#rolledBackByTool) return 'done';
    return changes;
  }

  /** The end of the call is on record. */
  recorded(log: Log): void {
    this.#transaction?.recorded(log);
  }

  /** Closes what is open. Undefined when there is nothing to wait for. */
  close(log: Log): Promise<void> | undefined {
    return this.#deferred === undefined ? undefined : closeNow(this.#deferred, log);
  }
}

/** Most steps only give a number back: nothing is waited for until one takes its time. */
function closeNow(steps: Step[], log: Log): Promise<void> | undefined {
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    const ending = runStep(step, log);
    if (ending !== undefined) return ending.then(() => closeNow(steps, log));
  }
  return undefined;
}

/** A step that fails must not keep the others from running. */
function runStep(step: Step, log: Log): Promise<void> | undefined {
  try {
    const ended = step();
    return ended === undefined ? undefined : ended.catch((cause: unknown) => logFailed(log, cause));
  } catch (cause) {
    logFailed(log, cause);
    return undefined;
  }
}

const logFailed = (log: Log, cause: unknown): void => log.error('undo-step-failed', { reason: String(cause) });
