import type { Command } from 'commander';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { seconds } from '../../input/option-values.ts';
import { type GrantOptions, requestOf, withGrantOptions } from './grant-options.ts';

/** `api-keys list|create|revoke`. */
export function addApiKeysCommands(program: Command, kit: CommandKit): void {
  const keys = program.command('api-keys').description('see, make and revoke API keys');
  const list = keys.command('list').description('the keys of the tenant, the newest first');
  kit.asking(list, async ({ layer, caller, print }) => {
    const answer = await layer.ask('api-keys.list', {}, caller);
    if (print.json) print.value(answer);
    else if (answer.keys.length === 0) print.note('There are no API keys.');
    else {
      print.table(
        ['KEY', 'NAME', 'BEGINS', 'STATE', 'AGENT', 'ROLES', 'EXPIRES', 'LAST USED'],
        answer.keys.map((key) => [
          key.key_id,
          key.name,
          key.prefix,
          key.state,
          key.agent_did,
          key.roles.join(' '),
          key.expires_at ?? '',
          key.last_used_at ?? '',
        ]),
      );
    }
    return EXIT.ok;
  });
  addCreateCommand(keys, kit);
  const revoke = keys
    .command('revoke')
    .description('revoke a key')
    .argument('<key>', 'its id, as api-keys list shows it');
  kit.asking(revoke, async ({ layer, caller, print }, [id]) => {
    const answer = await layer.ask('api-keys.revoke', { key_id: String(id) }, caller);
    if (print.json) print.value(answer);
    else print.line(`Revoked ${answer.name} (${answer.prefix}…)`);
    return EXIT.ok;
  });
}

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
