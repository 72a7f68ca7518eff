import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { Undoer, UndoStep } from '../../domain/invocation/undo-step.ts';
import { MiB } from '../../std/bytes.ts';
import { canonicalJson } from '../../std/canonical-json.ts';
import type { Log } from '../../telemetry/log.ts';
import type { UndoJournal } from '../undo-journal.port.ts';

/** What transactions stand on. */
export interface TransactionParts {
  readonly journal: UndoJournal;
  /** By kind of step. */
  readonly undoers: Readonly<Record<string, Undoer>>;
  /** Steps of one call; more are refused with E3102. Default 256. */
  readonly stepsMax?: number;
  /** Size of one step as JSON; a larger one is refused with E3102. Default 8 MiB. */
  readonly stepBytesMax?: number;
}

/** Bounds of a transaction. */
export const TRANSACTION_BOUNDS = { stepsMax: 256, stepBytesMax: 8 * MiB } as const;

/** Whether what was changed is as before: there was nothing, all of it is, or not all of it. */
export type RolledBack = 'nothing' | 'done' | 'failed';

/** The call that a transaction belongs to. */
export interface TransactionOf {
  readonly tenantId: string;
  readonly invocationId: string;
  readonly instanceId: string;
}

/** The changes of one call: written down before they are made, taken back newest first (PIPE-03). */
export class Transaction {
  readonly #parts: TransactionParts;
  readonly #of: TransactionOf;
  readonly #steps: { readonly position: number; readonly step: UndoStep }[] = [];
  #next = 0;
  #pending: Promise<unknown> | undefined;
  #over = false;
  #failed = false;

  constructor(parts: TransactionParts, of: TransactionOf) {
    this.#parts = parts;
    this.#of = of;
  }

  /**
   * Resolves when the change may be made.
   * @throws E3102 for too many or too large steps, E3805 when the call is over, E3812 when it cannot be written,
   *   E3900 for a kind that nobody takes back
   */
  async record(step: UndoStep): Promise<void> {
    const { journal, undoers, stepsMax = TRANSACTION_BOUNDS.stepsMax } = this.#parts;
    if (!Object.hasOwn(undoers, step.kind)) throw new ToolLayerError('E3900', `Nobody takes back ${step.kind}.`);
    if (this.#next >= stepsMax) throw tooMuch(`${stepsMax} changes`);
    checkSize(step, this.#parts.stepBytesMax ?? TRANSACTION_BOUNDS.stepBytesMax);
    if (this.#over) throw isOver();
    const position = this.#next;
    this.#next += 1;
    const adding = journal.add({ ...this.#of, position, step });
    const settled = Promise.allSettled([this.#pending, adding]);
    this.#pending = settled;
    await adding;
    this.#steps.push({ position, step });
    // A tool that does not heed its cancel must not change what is being taken back.
    if (this.#over) throw isOver();
  }

  /**
   * Takes back what was recorded, newest first, and stops at what it cannot: what came before may depend on it.
   * @param last the call is over; otherwise another attempt follows, and may record again
   */
  async rollBack(log: Log, last: boolean): Promise<RolledBack> {
    this.#over = true;
    await this.#pending;
    if (this.#failed) return 'failed';
    if (this.#steps.length === 0) {
      this.#over = last;
      return 'nothing';
    }
    this.#steps.sort((one, other) => one.position - other.position);
    for (let at = this.#steps.at(-1); at !== undefined; at = this.#steps.at(-1)) {
      if (!(await undoStep(this.#parts, this.#of, at, log))) {
        this.#failed = true;
        return 'failed';
      }
      this.#steps.pop();
    }
    this.#over = last;
    return 'done';
  }

  /** The end of the call is on record: nothing is taken back any more, and the journal may forget it. */
  recorded(log: Log): void {
    this.#over = true;
    // What could not be taken back stays in the journal, for another try.
    if (this.#failed || this.#next === 0) return;
    const { tenantId, invocationId } = this.#of;
    this.#parts.journal.close(tenantId, invocationId).catch((cause: unknown) => {
      log.warn('undo-journal-not-closed', { invocation_id: invocationId, reason: String(cause) });
    });
  }
}

/** Takes one step back and says so in the journal. False when it could not be taken back. */
export async function undoStep(
  { journal, undoers }: Pick<TransactionParts, 'journal' | 'undoers'>,
  { tenantId, invocationId }: Pick<TransactionOf, 'tenantId' | 'invocationId'>,
  { position, step }: { readonly position: number; readonly step: UndoStep },
  log: Log,
): Promise<boolean> {
  try {
    const undoer = Object.hasOwn(undoers, step.kind) ? undoers[step.kind] : undefined;
    if (undoer === undefined) throw new Error(`nobody takes back ${step.kind}`);
    await undoer.undo(step, { tenantId, invocationId, position });
    await journal.markUndone(tenantId, invocationId, position);
    return true;
  } catch (cause) {
    log.error('rollback-failed', { invocation_id: invocationId, kind: step.kind, position, reason: String(cause) });
    return false;
  }
}

function checkSize(step: UndoStep, bytesMax: number): void {
  const text = canonicalJson(step);
  if (text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax)
    throw tooMuch(`${bytesMax} bytes in one change`);
}

const tooMuch = (bound: string): ToolLayerError =>
  new ToolLayerError('E3102', `The call changes more than can be taken back: ${bound}. Make it in several calls.`, {
    details: { limit: 'transaction' },
  });

const isOver = (): ToolLayerError => new ToolLayerError('E3805', 'The call is over; it changes nothing any more.');
