import type { UndoStep } from '../domain/invocation/undo-step.ts';

/** One step of a call's transaction, as it is written before the change. */
export interface JournalEntry {
  readonly tenantId: string;
  readonly invocationId: string;
  /** Instance that runs the call, for recovery. */
  readonly instanceId: string;
  /** From 0, one after the other. */
  readonly position: number;
  readonly step: UndoStep;
}

/** A transaction that is not closed. */
export interface OpenTransaction {
  readonly tenantId: string;
  readonly invocationId: string;
  readonly instanceId: string;
  /** In ascending order. */
  readonly steps: readonly { readonly position: number; readonly step: UndoStep; readonly undone: boolean }[];
}

/** The steps of transactions under way; they survive a crash (PIPE-03). */
export interface UndoJournal {
  /** Resolves when the step is on the disk: the change may follow. Rejects when the position is taken. */
  add(entry: JournalEntry): Promise<void>;
  /** Marks a step as taken back. Nothing happens when there is no such step. */
  markUndone(tenantId: string, invocationId: string, position: number): Promise<void>;
  /** Forgets the transaction: its call is over, and on record. Nothing happens when there is none. */
  close(tenantId: string, invocationId: string): Promise<void>;
  find(tenantId: string, invocationId: string): Promise<OpenTransaction | undefined>;
  /**
   * Open transactions of an instance in order of tenant and id, `limit` at most. `after` is the cursor: the last one of
   * the previous page.
   */
  open(
    instanceId: string,
    limit: number,
    after?: Pick<OpenTransaction, 'tenantId' | 'invocationId'>,
  ): Promise<readonly OpenTransaction[]>;
}
