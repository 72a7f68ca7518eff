import type { Command } from 'commander';
import type { KeyListResponse } from '../../../../../api/schemas/identity/key.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { seconds } from '../../input/option-values.ts';
import type { Printer } from '../../output/printer.ts';

/** `keys list|rotate`. */
export function addKeysCommands(program: Command, kit: CommandKit): void {
  const keys = program.command('keys').description('see the keys that tokens are judged by, and replace the own one');
  const list = keys.command('list').description('own keys, and those of others whose tokens are accepted');
  kit.asking(list, async ({ layer, caller, print }) => {
    const answer = await layer.ask('keys.list', {}, caller);
    if (print.json) print.value(answer);
    else tell(answer, print);
    return EXIT.ok;
  });
  const rotate = keys
    .command('rotate')
    .description('sign with a new key; tokens of the old one are accepted for a while')
    .option('--overlap <duration>', 'how long, for example 1h or 0; tokens.key_overlap_seconds when absent', seconds);
  kit.asking<{ readonly overlap?: number }>(rotate, async ({ layer, caller, print }, _args, { overlap }) => {
    const request = overlap === undefined ? {} : { overlap_seconds: Math.round(overlap) };
    const answer = await layer.ask('keys.rotate', request, caller);
    if (print.json) print.value(answer);
    else {
      print.line(`New tokens are signed with ${answer.kid}`);
      print.note(`Tokens of ${answer.replaced_kid} are accepted until ${answer.accepted_until}`);
    }
    return EXIT.ok;
  });
}

function tell({ own, foreign, problems }: KeyListResponse, print: Printer): void {
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
