import type { Log } from '../../telemetry/log.ts';
import type { OpenTransaction } from '../undo-journal.port.ts';
import {
  beginRollback,
  inUndoOrder,
  isPartial,
  type RolledBack,
  type TransactionParts,
  undoStep,
} from './transaction.ts';

/**
 * Takes back a call's steps in the journal, newest first; continues where an earlier try stopped.
 * @param elsewhere true when another instance made the changes: what only that instance reaches stays, and then not all
 *   is taken back
 */
export async function rollBackOpen(
  parts: Pick<TransactionParts, 'journal' | 'checkpoints' | 'undoers'>,
  open: OpenTransaction,
  log: Log,
  elsewhere = false,
): Promise<RolledBack> {
  const standing = open.steps.filter(({ undone }) => !undone);
  let left = false;
  if (standing.length > 0 && !(await beginRollback(parts, open, log))) return 'failed';
  for (const placed of inUndoOrder(standing, parts.undoers)) {
    const { kind } = placed.step;
    const isReached = !elsewhere || parts.undoers[kind]?.anywhere === true;
    if (!isReached) left = true;
    else if (!(await undoStep(parts, open, placed, log))) return 'failed';
  }
  if (left) return 'failed';
  return isPartial(open.steps) ? 'part' : 'done';
}
