import { type CommandPolicy, checkCommand } from '@sallyport/guards';
import type { Command } from 'commander';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { collect, oneOf } from '../../input/option-values.ts';
import { readSource } from '../../input/read-source.ts';

interface CommandOptions {
  readonly mode?: 'blocklist' | 'allowlist';
  readonly block?: readonly string[];
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
}

/** `check command`. */
export function addCheckCommand(check: Command, kit: CommandKit): void {
  const command = check
    .command('command')
    .description('judge a shell command or script, or the words of a command as a JSON list, without running it')
    .option('--mode <mode>', 'blocklist (default) or allowlist', oneOf(['blocklist', 'allowlist']))
    .option('--block <words>', 'words that a blocked command begins with; several times for several', collect)
    .option('--allow <words>', 'words that an allowed command begins with; several times for several', collect)
    .option('--ask <rule>', 'rule that asks instead of blocking; several times for several', collect);
  kit.action<CommandOptions>(command, async (_args, options, print) => {
    const found = checkCommand(readCommand(await readSource('-', kit.parts.io)), policyOf(options));
    if (print.json) print.value(found);
    else {
      print.line(found.verdict);
      const rows = found.findings.map(({ verdict, rule, command: words, why }) => [verdict, rule, words, why]);
      if (rows.length > 0) print.table(['VERDICT', 'RULE', 'COMMAND', 'WHY'], rows);
    }
    return found.verdict === 'safe' ? EXIT.ok : EXIT.refused;
  });
}

/** A JSON list of texts is the argument list of one command; anything else is a script. */
function readCommand(source: string): string | readonly string[] {
  if (!/^\s*\[/.test(source)) return source;
  try {
    const value: unknown = JSON.parse(source);
    return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : source;
  } catch {
    return source;
  }
}

function policyOf({ mode = 'blocklist', block = [], allow = [], ask = [] }: CommandOptions): CommandPolicy {
  return { mode, blocked: block, allowed: allow, asked: ask };
}
