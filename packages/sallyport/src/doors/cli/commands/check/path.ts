import { resolve } from 'node:path';
import { checkPath } from '@sallyport/guards';
import type { Command } from 'commander';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { collect } from '../../input/option-values.ts';
import { stdinTexts } from './stdin-values.ts';

interface PathOptions {
  readonly root?: readonly string[];
  readonly deny?: readonly string[];
}

/** `check path`: judges whether paths may be accessed; exit code 1 when one may not. */
export function addPathCheck(check: Command, kit: CommandKit): void {
  const path = check
    .command('path')
    .description('find paths that leave the allowed folders, or lead to secrets; reads no disk')
    .option('--root <folder>', 'an allowed folder; the current one when absent; several times', collect)
    .option('--deny <pattern>', 'refuse these instead of the usual places of secrets; several times', collect);
  kit.action<PathOptions>(path, async (_args, { root, deny }, print) => {
    const { io } = kit.parts;
    const roots = (root ?? ['.']).map((folder) => resolve(io.cwd, folder));
    const policy = { base: io.cwd, ...(deny === undefined ? {} : { deny }) };
    const verdicts = (await stdinTexts(io)).map((text) => ({ path: text, ...checkPath(text, roots, policy) }));
    const clean = verdicts.every(({ allowed }) => allowed);
    if (print.json) print.value({ clean, paths: verdicts });
    else {
      const rows = verdicts.map(({ path: text, allowed, normal, why = '' }) => [
        allowed ? 'yes' : 'no',
        text,
        normal,
        why,
      ]);
      print.table(['ALLOWED', 'PATH', 'MEANS', 'WHY NOT'], rows);
    }
    return clean ? EXIT.ok : EXIT.refused;
  });
}
