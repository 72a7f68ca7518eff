/**
 * How one change of state is taken back, written down before the change is made (PIPE-03). Plain JSON, because it may be
 * read by another process after a crash; `kind` says who takes it back and what the other members mean.
 */
export interface UndoStep {
  readonly kind: string;
  /**
   * The call may change more than its steps tell: that all of them are taken back does not say that nothing happened.
   * Absent where the steps are all that the call changes.
   */
  readonly partial?: true;
  readonly [member: string]: unknown;
}

/** Takes back the steps of one kind. */
export interface Undoer {
  /** Nobody but the call has seen its changes: they are taken back before those of other kinds. Default false. */
  readonly first?: true;
  /** Every instance reaches what was changed. By default only the one that changed it does. */
  readonly anywhere?: true;
  /**
   * Brings the state back to what it was before the step. A step that was never made, or is taken back already, is left
   * alone: after a crash nobody knows how far it came. Rejects when it cannot be taken back, now or ever.
   */
  undo(step: UndoStep, of: UndoneCall): Promise<void>;
  /**
   * The call is on record as completed: what was changed stays. Asked once or more, and only for kinds that wait for it.
   * Rejects when it has to be asked again.
   */
  keep?(step: UndoStep, of: UndoneCall): Promise<void>;
}

/** The call whose step is taken back. */
export interface UndoneCall {
  readonly tenantId: string;
  readonly invocationId: string;
  /** Grows with each step; with the call's id a key of the step. */
  readonly position: number;
}
