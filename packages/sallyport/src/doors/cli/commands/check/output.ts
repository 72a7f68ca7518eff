import { scanOutput } from '@sallyport/guards';
import type { Command } from 'commander';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { stdinValue } from './stdin-values.ts';

/** `check output`: looks for injected instructions in tool output; exit code 1 when there may be some. */
export function addOutputCheck(check: Command, kit: CommandKit): void {
  const output = check
    .command('output')
    .description('find instructions for the model in a result, a text or a JSON document');
  kit.action(output, async (_args, _options, print) => {
    const verdict = scanOutput(await stdinValue(kit.parts.io));
    const { tainted, complete, findings } = verdict;
    if (print.json) print.value({ clean: !tainted, ...verdict });
    else if (!tainted) print.line('nothing found', 'good');
    else {
      const rows = findings.map(({ rule, path, start, end }) => [rule, path, `${start}-${end}`]);
      print.table(['RULE', 'FIELD', 'CHARACTERS'], rows);
    }
    if (!complete) print.note('There was more text than is judged.');
    return tainted ? EXIT.refused : EXIT.ok;
  });
}
