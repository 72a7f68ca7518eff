import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ProgramEnd } from '../../programs/program-end.ts';
import type { ShellPlan } from '../shell-plan.ts';
import type { CommandEnd, Transaction } from './transactions.ts';

/** The end of a command that failed; undefined when it never ran. */
export function commandEndOf(
  { successCodes }: ShellPlan,
  { exit, output }: Pick<ProgramEnd, 'exit' | 'output'>,
  signal: AbortSignal,
): CommandEnd | undefined {
  if (exit.notStarted === true) return undefined;
  if (signal.aborted) return failureOf(signal.reason).code === 'E3103' ? 'timeout' : 'cancel';
  if (output.flooded || exit.violation !== undefined) return 'violation';
  if (exit.code === undefined) return 'signal';
  return successCodes.has(exit.code) ? 'bad_output' : exit.code;
}

/**
 * Settles the transaction of a failed command.
 * @returns the failure, with the outcome for the files
 * @throws E3804 when not everything could be undone
 */
export async function settleFailure(
  transaction: Transaction,
  end: CommandEnd | undefined,
  failed: unknown,
): Promise<unknown> {
  if (end === undefined) return failed;
  const rolledBack = await transaction.settle(end);
  // The reason of an abort is passed on unchanged.
  if (!(failed instanceof ToolLayerError) || end === 'timeout' || end === 'cancel') return failed;
  const { code, message, details } = failed.failure;
  if (rolledBack)
    return new ToolLayerError(code, `${message} What it changed in its files was taken back.`, {
      details: { ...details, rolled_back: true },
      cause: failed.cause,
    });
  const { unsecured } = transaction;
  if (unsecured === undefined) return failed;
  const text = `${message} What it changed stays: no snapshot could be taken, because ${unsecured}.`;
  return new ToolLayerError(code, text, { details: { ...details, rolled_back: false }, cause: failed.cause });
}
