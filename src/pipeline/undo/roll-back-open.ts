import type { Log } from '../../telemetry/log.ts';
import type { OpenTransaction } from '../undo-journal.port.ts';
import { type RolledBack, type TransactionParts, undoStep } from './transaction.ts';

/** Takes back what the journal holds of a call, newest first; goes on where an earlier try stopped. */
export async function rollBackOpen(
  parts: Pick<TransactionParts, 'journal' | 'undoers'>,
  open: OpenTransaction,
  log: Log,
): Promise<RolledBack> {
  for (const { position, step, undone } of open.steps.toReversed()) {
    if (!undone && !(await undoStep(parts, open, { position, step }, log))) return 'failed';
  }
  return open.steps.length === 0 ? 'nothing' : 'done';
}
