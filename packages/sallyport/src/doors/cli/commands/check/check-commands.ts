import type { Command } from 'commander';
import type { CommandKit } from '../../command-kit.ts';
import { addCheckCommand } from './command.ts';
import { addDescriptionCheck } from './description.ts';
import { addCheckInjection } from './injection.ts';
import { addOutputCheck } from './output.ts';
import { addPathCheck } from './path.ts';
import { addSecretsCheck } from './secrets.ts';
import { addUrlCheck } from './url.ts';

/** `check injection|secrets|command|url|path|description|output`: judges input read from standard input. */
export function addCheckCommands(program: Command, kit: CommandKit): void {
  const check = program
    .command('check')
    .description('judge what comes through standard input; exit code 0 when it is clean, 1 when something was found');
  addCheckInjection(check, kit);
  addSecretsCheck(check, kit);
  addCheckCommand(check, kit);
  addUrlCheck(check, kit);
  addPathCheck(check, kit);
  addDescriptionCheck(check, kit);
  addOutputCheck(check, kit);
}
