import type { Command } from 'commander';
import type { ApiKey } from '../../../../../api/schemas/identity/api-key.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { seconds } from '../../input/option-values.ts';
import { operationCommands } from '../../operation/operation-command.ts';
import { list } from '../../output/templates.ts';
import { type GrantOptions, requestOf, withGrantOptions } from './grant-options.ts';

/** `api-keys list|create|revoke`. */
export function addApiKeysCommands(program: Command, kit: CommandKit): void {
  const keys = program.command('api-keys').description('see, make and revoke API keys');
  const operation = operationCommands(keys, kit);
  operation('api-keys.list', {
    command: 'list',
    help: 'the keys of the tenant, the newest first',
    print: list({
      head: ['KEY', 'NAME', 'BEGINS', 'STATE', 'AGENT', 'ROLES', 'EXPIRES', 'LAST USED'],
      rows: (answer) => answer.keys.map(rowOf),
      empty: 'There are no API keys.',
    }),
  });
  addCreateCommand(keys, kit);
  operation('api-keys.revoke', {
    command: 'revoke',
    members: { key_id: { help: 'its id, as api-keys list shows it' } },
    print: ({ name, prefix }, print) => print.line(`Revoked ${name} (${prefix}…)`),
  });
}

const rowOf = ({
  key_id,
  name,
  prefix,
  state,
  agent_did,
  roles,
  expires_at = '',
  last_used_at = '',
}: ApiKey): string[] => [key_id, name, prefix, state, agent_did, roles.join(' '), expires_at, last_used_at];

function addCreateCommand(keys: Command, kit: CommandKit): void {
  const create = withGrantOptions(
    keys.command('create').description('make a key and print it, this once').argument('<name>', 'for people'),
  ).option('--expires <duration>', 'how long it is good, for example 90d; without end when absent', seconds);
  kit.adding<GrantOptions>(create, async ({ layer, caller, print, parts }, [name], options) => {
    const request = { ...requestOf(options, parts.io.cwd), name: String(name) };
    const answer = await layer.ask('api-keys.create', request, caller);
    if (print.json) print.value(answer);
    else {
      print.line(answer.api_key);
      print.note(`It is shown this once. For ${answer.key.agent_did}, roles ${answer.key.roles.join(', ')}`);
    }
    return EXIT.ok;
  });
}
