import type { Command } from 'commander';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { seconds } from '../../input/option-values.ts';
import { operationCommands } from '../../operation/operation-command.ts';
import { addApiKeysCommands } from './api-keys.ts';
import { type GrantOptions, requestOf, withGrantOptions } from './grant-options.ts';
import { addInspectCommand } from './inspect.ts';
import { addKeysCommands } from './keys.ts';
import { addRevokeCommands } from './revoke.ts';

/** `token mint|inspect|revoke|revocations|restore`, `api-keys …` and `keys …`. */
export function addTokenCommands(program: Command, kit: CommandKit): void {
  const token = program.command('token').description('make, explain and revoke capability tokens');
  addMintCommand(token, kit);
  const operation = operationCommands(token, kit);
  addInspectCommand(operation);
  addRevokeCommands(operation);
  addApiKeysCommands(program, kit);
  addKeysCommands(program, kit);
}

function addMintCommand(token: Command, kit: CommandKit): void {
  const mint = withGrantOptions(token.command('mint').description('sign a capability token and print it'))
    .option('--session <id>', 'session that it belongs to: that of its context and its quota')
    .option('--expires <duration>', 'how long it is good, for example 15m; an hour when absent', seconds);
  kit.adding<GrantOptions>(mint, async ({ layer, caller, print, parts }, _args, options) => {
    const answer = await layer.ask('tokens.mint', requestOf(options, parts.io.cwd), caller);
    if (print.json) print.value(answer);
    else {
      print.line(answer.capability_token);
      const { tool_id, agent_did, exp } = answer.claims;
      print.note(`For ${tool_id} by ${agent_did}, good until ${new Date(exp * 1000).toISOString()}`);
    }
    return EXIT.ok;
  });
}
