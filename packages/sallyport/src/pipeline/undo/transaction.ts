import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { CheckpointStore } from '../../bridges/checkpoint-store.port.ts';
import type { Undoer, UndoStep } from '../../domain/invocation/undo-step.ts';
import type { Log } from '../../telemetry/log.ts';
import { retryWhileUnavailable } from '../record/retry-while-unavailable.ts';
import type { UndoJournal } from '../undo-journal.port.ts';

/** Dependencies of transactions. */
export interface TransactionParts {
  readonly journal: UndoJournal;
  readonly checkpoints: Pick<CheckpointStore, 'removeAfterChanges'>;
  /** By kind of step. */
  readonly undoers: Readonly<Record<string, Undoer>>;
  /** Steps of one call; more are refused with E3102. Default 256. */
  readonly stepsMax?: number;
  /** Size of one step as JSON; a larger one is refused with E3102. Default 8 MiB. */
  readonly stepBytesMax?: number;
}

/** Bounds of a transaction. */
export const TRANSACTION_BOUNDS = { stepsMax: 256, stepBytesMax: 8 * MiB } as const;

/**
 * Result of a rollback: there was nothing; all is as before; all recorded changes are taken back but there may be more;
 * or not all of them are.
 */
export type RolledBack = 'nothing' | 'done' | 'part' | 'failed';

/** A step and its position. */
export interface PlacedStep {
  readonly position: number;
  readonly step: UndoStep;
}

/** The call that a transaction belongs to. */
export interface TransactionOf {
  readonly tenantId: string;
  readonly invocationId: string;
  readonly instanceId: string;
  /** Number of the run's lease; 0 when absent. */
  readonly fence?: number;
}

/** Positions of one run: a run that lost its lease never shares positions with the next. */
const PLACES_PER_RUN = 4_096;

/** The changes of one call: recorded before they are made, taken back newest first (PIPE-03). */
export class Transaction {
  readonly #parts: TransactionParts;
  readonly #of: TransactionOf;
  readonly #firstPlace: number;
  #steps: PlacedStep[] = [];
  #count = 0;
  #pending: Promise<unknown> | undefined;
  #over = false;
  #failed = false;

  constructor(parts: TransactionParts, of: TransactionOf) {
    this.#parts = parts;
    this.#of = of;
    this.#firstPlace = (of.fence ?? 0) * PLACES_PER_RUN;
  }

  /**
   * Resolves when the change may be made.
   * @throws E3102 for too many or too large steps, E3805 when the call is over, E3812 when it cannot be written, E3900
   *   for a kind without an undoer
   */
  async record(step: UndoStep): Promise<void> {
    const { undoers, stepsMax = TRANSACTION_BOUNDS.stepsMax } = this.#parts;
    if (!Object.hasOwn(undoers, step.kind)) throw new ToolLayerError('E3900', `Nobody takes back ${step.kind}.`);
    if (this.#count >= Math.min(stepsMax, PLACES_PER_RUN)) throw tooMuch(`${stepsMax} changes`);
    checkSize(step, this.#parts.stepBytesMax ?? TRANSACTION_BOUNDS.stepBytesMax);
    if (this.#over) throw isOver();
    const position = this.#firstPlace + this.#count;
    this.#count += 1;
    await this.#awaited(retryWhileUnavailable((again) => this.#add({ position, step }, again)));
    this.#steps.push({ position, step });
    // A tool that ignores its cancel must not change what is being taken back.
    if (this.#over) throw isOver();
  }

  async #add({ position, step }: PlacedStep, again: boolean): Promise<void> {
    const { tenantId, invocationId, instanceId } = this.#of;
    const { journal } = this.#parts;
    // The step may have been written although the answer was lost.
    const known = again ? await journal.find(tenantId, invocationId) : undefined;
    if (known?.steps.some((each) => each.position === position) === true) return;
    await journal.add({ tenantId, invocationId, instanceId, position, step });
  }

  /**
   * Makes a change whose step is recorded; a rollback that begins meanwhile waits for it.
   * @throws E3805 when the call is over; then the change was not made
   */
  async change<Result>(make: () => Promise<Result>): Promise<Result> {
    if (this.#over) throw isOver();
    return this.#awaited(make());
  }

  /** True when changes are recorded that are not taken back yet. */
  get hasSteps(): boolean {
    return this.#steps.length > 0;
  }

  #awaited<Result>(running: Promise<Result>): Promise<Result> {
    const before = this.#pending;
    this.#pending = Promise.allSettled([before, running]).then(() => undefined);
    return running;
  }

  /**
   * Takes back what was recorded, newest first, and stops at the first failure: earlier changes may depend on it.
   * Further changes are refused, unless another attempt begins.
   */
  async rollBack(log: Log): Promise<RolledBack> {
    this.#over = true;
    await this.#pending;
    if (this.#failed) return 'failed';
    if (this.#steps.length === 0) return 'nothing';
    const steps = this.#steps;
    this.#failed = !(await beginRollback(this.#parts, this.#of, log));
    if (this.#failed) return 'failed';
    for (const placed of inUndoOrder(steps, this.#parts.undoers)) {
      if (!(await undoStep(this.#parts, this.#of, placed, log))) {
        this.#failed = true;
        return 'failed';
      }
      this.#steps = this.#steps.filter((each) => each !== placed);
    }
    return isPartial(steps) ? 'part' : 'done';
  }

  /** Another attempt begins, and may make changes again. */
  reopen(): void {
    this.#over = false;
  }

  /** The end of the call is on record: nothing is taken back any more, and the journal may drop the transaction. */
  recorded(log: Log): void {
    this.#over = true;
    // What could not be taken back stays in the journal for another try.
    if (this.#failed || this.#count === 0) return;
    // Not awaited: a call that meets a write not yet released reads the row of this call.
    retryWhileUnavailable(() => keepSteps(this.#parts, this.#of, this.#steps)).catch((cause: unknown) => {
      log.warn('undo-journal-not-closed', { invocation_id: this.#of.invocationId, reason: String(cause) });
    });
  }
}

/** Newest first; changes that only the call itself has seen come before all others. */
export function inUndoOrder<Step extends PlacedStep>(
  steps: readonly Step[],
  undoers: TransactionParts['undoers'],
): readonly Step[] {
  const isFirst = ({ step }: Step): number =>
    Object.hasOwn(undoers, step.kind) && undoers[step.kind]?.first === true ? 0 : 1;
  return steps.toSorted((one, other) => isFirst(one) - isFirst(other) || other.position - one.position);
}

/** True when the call may have changed more than its steps record. */
export const isPartial = (steps: readonly PlacedStep[]): boolean => steps.some(({ step }) => step.partial === true);

/** The call is on record as completed: its pending changes are kept, and the journal drops the transaction. */
export async function keepSteps(
  { journal, undoers }: Pick<TransactionParts, 'journal' | 'undoers'>,
  { tenantId, invocationId }: Pick<TransactionOf, 'tenantId' | 'invocationId'>,
  steps: readonly PlacedStep[],
): Promise<void> {
  for (const { position, step } of steps) {
    if (Object.hasOwn(undoers, step.kind)) await undoers[step.kind]?.keep?.(step, { tenantId, invocationId, position });
  }
  await journal.close(tenantId, invocationId);
}

/**
 * Removes checkpoints that say a change is made, before it is taken back: no later run may skip what is not there any more.
 * False when they could not be removed.
 */
export async function beginRollback(
  { checkpoints }: Pick<TransactionParts, 'checkpoints'>,
  { tenantId, invocationId }: Pick<TransactionOf, 'tenantId' | 'invocationId'>,
  log: Log,
): Promise<boolean> {
  try {
    await retryWhileUnavailable(() => checkpoints.removeAfterChanges(tenantId, invocationId));
    return true;
  } catch (cause) {
    log.error('rollback-failed', { invocation_id: invocationId, kind: 'checkpoints', reason: String(cause) });
    return false;
  }
}

/** Takes one step back and marks it in the journal. False when it could not be taken back. */
export async function undoStep(
  { journal, undoers }: Pick<TransactionParts, 'journal' | 'undoers'>,
  { tenantId, invocationId }: Pick<TransactionOf, 'tenantId' | 'invocationId'>,
  { position, step }: PlacedStep,
  log: Log,
): Promise<boolean> {
  try {
    const undoer = Object.hasOwn(undoers, step.kind) ? undoers[step.kind] : undefined;
    if (undoer === undefined) throw new Error(`nobody takes back ${step.kind}`);
    await retryWhileUnavailable(() => undoer.undo(step, { tenantId, invocationId, position }));
    await retryWhileUnavailable(() => journal.markUndone(tenantId, invocationId, position));
    return true;
  } catch (cause) {
    log.error('rollback-failed', { invocation_id: invocationId, kind: step.kind, position, reason: String(cause) });
    return false;
  }
}

function checkSize(step: UndoStep, bytesMax: number): void {
  if (Buffer.byteLength(canonicalJson(step)) > bytesMax) throw tooMuch(`${bytesMax} bytes in one change`);
}

const tooMuch = (bound: string): ToolLayerError =>
  new ToolLayerError('E3102', `The call changes more than can be taken back: ${bound}. Make it in several calls.`, {
    details: { limit: 'transaction' },
  });

const isOver = (): ToolLayerError => new ToolLayerError('E3805', 'The call is over; it changes nothing any more.');
