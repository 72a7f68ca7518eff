import { join } from 'node:path';
import type { CommandPolicy } from '@sallyport/guards';
import type { SandboxDriver } from '@sallyport/sandbox';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CallFolders } from '../../bridges/call-folders.ts';
import { valuesOf } from '../../domain/settings/setting.ts';
import type { Executor } from '../../executors/executor.port.ts';
import { COMMAND_SETTINGS, TRANSACTION_SETTINGS } from '../../executors/shell/settings.ts';
import { createShellExecutor } from '../../executors/shell/shell-executor.ts';
import { createShellPolicy, type ShellPolicy } from '../../executors/shell/shell-policy.ts';
import { followShellPolicy } from '../../executors/shell/shell-policy-file.ts';
import { openSnapshotFolder } from '../../executors/shell/transaction/snapshot-folder.ts';
import { createTransactions, type TransactionSettings } from '../../executors/shell/transaction/transactions.ts';
import type { Settings } from '../settings.ts';
import type { Ingredients } from './ingredients.ts';

/**
 * The executor of shell tools, with the operator's present rules and with transactions.
 * @throws E3801 for a file of rules with faults, and for invalid exit codes
 */
export async function openShell(
  opened: AsyncDisposableStack,
  { settings, log, closed }: Pick<Ingredients, 'settings' | 'log' | 'closed'>,
  { driver, folders }: { readonly driver: SandboxDriver; readonly folders: CallFolders },
): Promise<{ readonly shell: Executor; readonly shellPolicy: ShellPolicy }> {
  const policy = createShellPolicy(commandPolicyOf(settings));
  const file = settings['shell.policy_file'] || join(settings.data_folder, 'shell-policy.toml');
  opened.use(await followShellPolicy({ file, settings: commandPolicyOf(settings), policy, log }));
  const folder = await openSnapshotFolder(
    settings['shell.snapshot_folder'] || join(settings.data_folder, 'snapshots'),
    log,
  );
  const transactions = createTransactions({ folder, log, settings: transactionSettingsOf(settings), closed });
  return { shell: createShellExecutor({ driver, policy, transactions, folders }), shellPolicy: policy };
}

/** The operator's additions to the rules of the command screen. */
const commandPolicyOf = (settings: Settings): CommandPolicy => valuesOf(COMMAND_SETTINGS, settings);

const transactionSettingsOf = (settings: Settings): TransactionSettings => ({
  ...valuesOf(TRANSACTION_SETTINGS, settings),
  autoRollbackExitCodes: exitCodesOf(settings),
});

/** Exit codes after which a transaction is rolled back. @throws E3801 for an entry that is none */
export const exitCodesOf = (settings: Settings): readonly number[] =>
  settings['shell.auto_rollback_exit_codes'].map(exitCodeOf);

function exitCodeOf(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 255) return Number(text);
  throw new ToolLayerError(
    'E3801',
    `shell.auto_rollback_exit_codes holds ${JSON.stringify(text)}; write numbers from 0 to 255.`,
  );
}
