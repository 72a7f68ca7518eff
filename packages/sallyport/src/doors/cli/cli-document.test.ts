import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import type { CliParts } from './cli-parts.ts';
import { createProgram } from './create-program.ts';

const DOCUMENT = new URL('../../../../../docs/cli.md', import.meta.url);
/** Told once for all commands, above the table. */
const EVERYWHERE: ReadonlySet<string> = new Set(['--data-folder', '--json']);
/** How a row takes over the options of another command. */
const LIMITS_OF = /the limits of `([a-z -]+)`/g;

type Options = ReadonlyMap<string, ReadonlySet<string>>;

/** Options of each command as `--help` has them, by the name of the command. */
const inHelp: Options = new Map(leaves(createProgram({ io: {}, version: '0' } as CliParts, false, () => undefined)));
/** The same as the table of the document has them. */
const inDocument = documented(readFileSync(DOCUMENT, 'utf8'));

it('API-05 docs/cli.md has every command, and none that there is not', () => {
  expect([...inDocument.keys()].sort()).toEqual([...inHelp.keys()].sort());
});

it.each([...inHelp])('API-05 docs/cli.md has the options of %s as --help has them', (name, options) => {
  expect([...(inDocument.get(name) ?? [])].sort()).toEqual([...options].sort());
});

function leaves(command: Command, path: readonly string[] = []): readonly (readonly [string, Set<string>])[] {
  if (command.commands.length > 0) return command.commands.flatMap((each) => leaves(each, [...path, each.name()]));
  const options = command.options.map(({ long }) => long ?? '').filter((option) => !EVERYWHERE.has(option));
  return [[path.join(' '), new Set(options)]];
}

/**
 * The first cell of a row names commands, each in a span of code with its options. Options of the second cell belong to all commands
 * of the row.
 */
function documented(markdown: string): Options {
  const found = new Map<string, Set<string>>();
  const taken: (readonly [string, string])[] = [];
  for (const row of markdown.split('\n').filter((line) => line.startsWith('| `'))) {
    const [first = '', second = ''] = row.replaceAll('\\|', '/').split('|').slice(1);
    for (const span of spansOf(first.replaceAll(LIMITS_OF, ''))) {
      for (const name of namesIn(span)) {
        const options = [...optionsIn(span), ...spansOf(second).flatMap(optionsIn)];
        found.set(name, new Set([...(found.get(name) ?? []), ...options]));
        for (const [, other = ''] of first.matchAll(LIMITS_OF)) taken.push([name, other]);
      }
    }
  }
  for (const [name, other] of taken) for (const option of found.get(other) ?? []) found.get(name)?.add(option);
  return found;
}

function spansOf(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]*)`/g)].map(([, span = '']) => span);
}

/** What stands behind ` -- ` is for another program. */
function optionsIn(span: string): readonly string[] {
  return [...(span.split(' -- ')[0] ?? '').matchAll(/--[a-z-]+/g)].map(([option]) => option);
}

/** The words before arguments and options; `check a/b` names two commands, `calls show ID` one. */
function namesIn(span: string): readonly string[] {
  const words = span.split(' ');
  const end = words.findIndex((word) => !/^[a-z][a-z/-]*$/.test(word));
  return (end < 0 ? words : words.slice(0, end)).reduce<readonly string[]>(
    (before, word) => before.flatMap((one) => word.split('/').map((each) => `${one} ${each}`.trim())),
    [''],
  );
}
