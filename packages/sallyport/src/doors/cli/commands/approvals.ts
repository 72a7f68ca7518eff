import type { Command } from 'commander';
import type { CommandKit } from '../command-kit.ts';
import { addDecideCommands } from './approvals/decide-commands.ts';
import { addRightsCommands } from './approvals/rights-commands.ts';
import { addShowCommands } from './approvals/show-commands.ts';

/** `approvals list|show|watch|approve|deny|edit|answer|rules|revoke-rule|delegate|delegations|end-delegation`. */
export function addApprovalsCommands(program: Command, kit: CommandKit): void {
  const approvals = program.command('approvals').description('decide on calls that wait for a person');
  addShowCommands(approvals, kit);
  addDecideCommands(approvals, kit);
  addRightsCommands(approvals, kit);
}
