/**
 * How one change of state is taken back, recorded before the change is made (PIPE-03). Plain JSON, because another
 * process may read it after a crash; `kind` names its undoer and the meaning of the other members.
 */
export interface UndoStep {
  readonly kind: string;
  /**
   * True when the call may change more than its steps cover: taking all of them back does not prove that nothing
   * happened. Absent when the steps cover all changes of the call.
   */
  readonly partial?: true;
  readonly [member: string]: unknown;
}

/** Takes back the steps of one kind. */
export interface Undoer {
  /**
   * True when only the call itself has seen its changes: they are taken back before those of other kinds. Default
   * false.
   */
  readonly first?: true;
  /** True when every instance reaches the changed things. By default only the instance that made the change does. */
  readonly anywhere?: true;
  /**
   * Restores the state before the step. A step that was never made, or is taken back already, is left alone: after a
   * crash it is unknown how far it came. Rejects when it cannot be taken back, now or ever.
   */
  undo(step: UndoStep, of: UndoneCall): Promise<void>;
  /**
   * The call is on record as completed: the change stays. Called once or more, and only for kinds that wait for it.
   * Rejects when it has to be called again.
   */
  keep?(step: UndoStep, of: UndoneCall): Promise<void>;
}

/** The call whose step is taken back. */
export interface UndoneCall {
  readonly tenantId: string;
  readonly invocationId: string;
  /** Grows with each step; unique within the call. */
  readonly position: number;
}
