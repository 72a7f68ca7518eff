import type { Command } from 'commander';
import type { CommandKit } from '../command-kit.ts';
import { addCheckCommand } from './check/command.ts';
import { addDescriptionCheck } from './check/description.ts';
import { addCheckInjection } from './check/injection.ts';
import { addOutputCheck } from './check/output.ts';
import { addPathCheck } from './check/path.ts';
import { addSecretsCheck } from './check/secrets.ts';
import { addUrlCheck } from './check/url.ts';

/** `check injection|secrets|command|url|path|description|output`: judges what comes through standard input. */
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
