import type { Command } from 'commander';
import type { KeyListResponse } from '../../../../../api/schemas/identity/key.ts';
import type { CommandKit } from '../../command-kit.ts';
import { operationCommands } from '../../operation/operation-command.ts';
import type { Printer } from '../../output/printer.ts';

/** `keys list|rotate`. */
export function addKeysCommands(program: Command, kit: CommandKit): void {
  const keys = program.command('keys').description('see the keys that tokens are judged by, and replace the own one');
  const operation = operationCommands(keys, kit);
  operation('keys.list', {
    command: 'list',
    help: 'own keys, and those of others whose tokens are accepted',
    print: printKeys,
  });
  operation('keys.rotate', {
    command: 'rotate',
    print: ({ kid, replaced_kid, accepted_until }, print) => {
      print.line(`New tokens are signed with ${kid}`);
      print.note(`Tokens of ${replaced_kid} are accepted until ${accepted_until}`);
    },
  });
}

function printKeys({ own, foreign, problems }: KeyListResponse, print: Printer): void {
  for (const problem of problems) print.note(problem);
  print.table(
    ['KEY', 'ALGORITHM', 'STATE', 'ACCEPTED UNTIL', 'ISSUERS'],
    [
      ...own.map(({ kid, algorithm, state, accepted_until }) => [
        kid,
        algorithm,
        state,
        accepted_until ?? '',
        'this layer',
      ]),
      ...foreign.map(({ kid, algorithm, issuers, accepted_until }) => [
        kid,
        algorithm ?? 'any',
        'foreign',
        accepted_until ?? '',
        issuers.join(' '),
      ]),
    ],
  );
}
