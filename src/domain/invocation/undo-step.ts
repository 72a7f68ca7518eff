/**
 * How one change of state is taken back, written down before the change is made (PIPE-03). Plain JSON, because it may be
 * read by another process after a crash; `kind` says who takes it back and what the other members mean.
 */
export interface UndoStep {
  readonly kind: string;
  readonly [member: string]: unknown;
}

/** Takes back the steps of one kind. */
export interface Undoer {
  /**
   * Brings the state back to what it was before the step. A step that was never made, or is taken back already, is left
   * alone: after a crash nobody knows how far it came. Rejects when it cannot be taken back, now or ever.
   */
  undo(step: UndoStep, of: UndoneCall): Promise<void>;
}

/** The call whose step is taken back. */
export interface UndoneCall {
  readonly tenantId: string;
  readonly invocationId: string;
  /** From 0, in the order of the steps; with the call's id a key of the step. */
  readonly position: number;
}
