import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandScreen, createCommandScreen } from '@sallyport/guards';
import type { SandboxDriver } from '@sallyport/sandbox';
import { systemClock } from '@sallyport/std/clock';
import { createCallFolders } from '../../bridges/call-folders.ts';
import type { SkillFiles } from '../../registry/skill-files.port.ts';
import type { Executor } from '../executor.port.ts';
import { createShellExecutor } from '../shell/shell-executor.ts';
import { createShellPolicy } from '../shell/shell-policy.ts';
import type { Transactions } from '../shell/transaction/transactions.ts';
import { createSkillExecutor } from '../skill/skill-executor.ts';

const folders = createCallFolders(join(tmpdir(), 'call-folders'), systemClock);
const NO_TRANSACTIONS: Transactions = { begin: async () => undefined };

/** A shell executor with the built-in rules of commands. */
export const shellExecutor = (driver: SandboxDriver, transactions = NO_TRANSACTIONS): Executor =>
  createShellExecutor({ driver, policy: createShellPolicy(), transactions, folders });

/** A skill executor with the built-in rules of commands. */
export const skillExecutor = (
  driver: SandboxDriver,
  files: SkillFiles,
  screen: CommandScreen = createCommandScreen(),
): Executor => createSkillExecutor({ driver, files, screen: () => screen, folders });
