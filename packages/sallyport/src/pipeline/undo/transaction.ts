import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { Undoer, UndoStep } from '../../domain/invocation/undo-step.ts';
import type { Log } from '../../telemetry/log.ts';
import { patiently } from '../record/patiently.ts';
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

/**
 * Whether what was changed is as before: there was nothing, all of it is, all that was recorded is but there may be more,
 * or not all of it.
 */
export type RolledBack = 'nothing' | 'done' | 'part' | 'failed';

/** A step in its place. */
export interface PlacedStep {
  readonly position: number;
  readonly step: UndoStep;
}

/** The call that a transaction belongs to. */
export interface TransactionOf {
  readonly tenantId: string;
  readonly invocationId: string;
  readonly instanceId: string;
  /** Number of the lease of the run; 0 when absent. */
  readonly fence?: number;
}

/** Places of one run: those of a run that lost its lease are never those of the next. */
const PLACES_PER_RUN = 4_096;

/** The changes of one call: written down before they are made, taken back newest first (PIPE-03). */
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
   * @throws E3102 for too many or too large steps, E3805 when the call is over, E3812 when it cannot be written,
   *   E3900 for a kind that nobody takes back
   */
  async record(step: UndoStep): Promise<void> {
    const { undoers, stepsMax = TRANSACTION_BOUNDS.stepsMax } = this.#parts;
    if (!Object.hasOwn(undoers, step.kind)) throw new ToolLayerError('E3900', `Nobody takes back ${step.kind}.`);
    if (this.#count >= Math.min(stepsMax, PLACES_PER_RUN)) throw tooMuch(`${stepsMax} changes`);
    checkSize(step, this.#parts.stepBytesMax ?? TRANSACTION_BOUNDS.stepBytesMax);
    if (this.#over) throw isOver();
    const position = this.#firstPlace + this.#count;
    this.#count += 1;
    await this.#awaited(patiently((again) => this.#add({ position, step }, again)));
    this.#steps.push({ position, step });
    // A tool that does not heed its cancel must not change what is being taken back.
    if (this.#over) throw isOver();
  }

  async #add({ position, step }: PlacedStep, again: boolean): Promise<void> {
    const { tenantId, invocationId, instanceId } = this.#of;
    const { journal } = this.#parts;
    // The answer may have been lost, and not the step.
    const known = again ? await journal.find(tenantId, invocationId) : undefined;
    if (known?.steps.some((each) => each.position === position) === true) return;
    await journal.add({ tenantId, invocationId, instanceId, position, step });
  }

  /**
   * Makes a change whose step is recorded; a rollback that begins meanwhile waits for it.
   * @throws E3805 when the call is over; then nothing was made
   */
  async change<Result>(make: () => Promise<Result>): Promise<Result> {
    if (this.#over) throw isOver();
    return this.#awaited(make());
  }

  #awaited<Result>(running: Promise<Result>): Promise<Result> {
    const before = this.#pending;
    this.#pending = Promise.allSettled([before, running]).then(() => undefined);
    return running;
  }

  /**
   * Takes back what was recorded, newest first, and stops at what it cannot: what came before may depend on it. Nothing
   * is changed any more, unless another attempt begins.
   */
  async rollBack(log: Log): Promise<RolledBack> {
    this.#over = true;
    await this.#pending;
    if (this.#failed) return 'failed';
    if (this.#steps.length === 0) return 'nothing';
    const steps = this.#steps;
    for (const placed of inUndoOrder(steps, this.#parts.undoers)) {
      if (!(await undoStep(this.#parts, this.#of, placed, log))) {
        this.#failed = true;
        return 'failed';
      }
      this.#steps = this.#steps.filter((each) => each !== placed);
    }
    return isPartial(steps) ? 'part' : 'done';
  }

  /** Another attempt begins, and may change something again. */
  reopen(): void {
    this.#over = false;
  }

  /** The end of the call is on record: nothing is taken back any more, and the journal may forget it. */
  recorded(log: Log): void {
    this.#over = true;
    // What could not be taken back stays in the journal, for another try.
    if (this.#failed || this.#count === 0) return;
    // Nobody waits for it: whoever meets a change that is not let go yet looks at the row of this call.
    patiently(() => keepSteps(this.#parts, this.#of, this.#steps)).catch((cause: unknown) => {
      log.warn('undo-journal-not-closed', { invocation_id: this.#of.invocationId, reason: String(cause) });
    });
  }
}

/** Newest first; before all others those that nobody but the call has seen. */
export function inUndoOrder<Step extends PlacedStep>(
  steps: readonly Step[],
  undoers: TransactionParts['undoers'],
): readonly Step[] {
  const isFirst = ({ step }: Step): number =>
    Object.hasOwn(undoers, step.kind) && undoers[step.kind]?.first === true ? 0 : 1;
  return steps.toSorted((one, other) => isFirst(one) - isFirst(other) || other.position - one.position);
}

/** Whether the call may have changed more than its steps tell. */
export const isPartial = (steps: readonly PlacedStep[]): boolean => steps.some(({ step }) => step.partial === true);

/** The call is on record as completed: what waits for that stays, and the journal forgets it. */
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

/** Takes one step back and says so in the journal. False when it could not be taken back. */
export async function undoStep(
  { journal, undoers }: Pick<TransactionParts, 'journal' | 'undoers'>,
  { tenantId, invocationId }: Pick<TransactionOf, 'tenantId' | 'invocationId'>,
  { position, step }: PlacedStep,
  log: Log,
): Promise<boolean> {
  try {
    const undoer = Object.hasOwn(undoers, step.kind) ? undoers[step.kind] : undefined;
    if (undoer === undefined) throw new Error(`nobody takes back ${step.kind}`);
    await patiently(() => undoer.undo(step, { tenantId, invocationId, position }));
    await patiently(() => journal.markUndone(tenantId, invocationId, position));
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
