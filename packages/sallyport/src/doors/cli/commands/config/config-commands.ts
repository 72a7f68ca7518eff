import { writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { EXIT, type MigratedSettings } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { readSource } from '../../input/read-source.ts';
import { usageError } from '../../input/usage-error.ts';
import type { Printer } from '../../output/printer.ts';

/** `config migrate`: takes over a configuration in the words of the five specifications; asks no layer. */
export function addConfigCommands(program: Command, kit: CommandKit): void {
  const config = program.command('config').description('settings files');
  const migrate = config
    .command('migrate')
    .description('print a configuration in the words of the specifications as settings of this layer')
    .argument('<file>', 'TOML, YAML or JSON; - for standard input')
    .option('--output <file>', 'write the settings into this new file, readable by its owner alone');
  kit.action<{ readonly output?: string }>(migrate, async ([file], { output }, print) => {
    const { io } = kit.parts;
    const name = String(file);
    const text = await readSource(name, io);
    const migrated = await kit.parts.migrateSettings(text, name === '-' ? 'standard input' : basename(name));
    if (output !== undefined) await writeNew(resolve(io.cwd, output), output, migrated.text);
    printMigrated(migrated, output, print);
    return EXIT.ok;
  });
}

function printMigrated({ settings, notes, text }: MigratedSettings, output: string | undefined, print: Printer): void {
  if (print.json) print.value({ ...(output === undefined ? { settings } : { output }), notes });
  else {
    if (output === undefined) print.text(text.trimEnd());
    else print.line(`${Object.keys(settings).length} settings are in ${output}`, 'good');
    for (const { key, why } of notes) print.note(`${key}: ${why}`);
    if (Object.keys(settings).length === 0) print.note('No key of the file became a setting.');
  }
}

/** Never replaces a file: it may be the settings of a layer that runs. */
async function writeNew(path: string, named: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    const reason = REASONS[(cause as NodeJS.ErrnoException).code ?? ''];
    throw reason === undefined ? cause : Object.assign(usageError(`${named} ${reason}`), { cause });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'is there already. Name another file, or remove it.',
  ENOENT: 'cannot be made: its folder does not exist.',
  ENOTDIR: 'cannot be made: a part of its path is a file.',
  EACCES: 'may not be written by this user.',
  EISDIR: 'is a folder. Name a file.',
};
