import type { Field } from '../field.ts';
import type { CommandMatcher } from '../shell.ts';
import { globMatcher } from '../words/glob.ts';
import { programName } from './names.ts';

interface Entry {
  readonly text: string;
  readonly words: readonly ((text: string) => boolean)[];
}

/**
 * Reads entries such as `git push`, `npm run *` or `dangerous*`: words that a command begins with, `*` for any characters
 * of one word. The program is compared without its folder.
 */
export function createMatcher(entries: readonly string[] = []): CommandMatcher {
  const byProgram = new Map<string, Entry[]>();
  const patterns: Entry[] = [];
  for (const text of entries) {
    const [program = '', ...words] = text.trim().split(/\s+/);
    if (program === '') continue;
    const isPattern = /[*?[]/.test(program);
    const entry: Entry = { text, words: [wordMatcher(program), ...words.map(wordMatcher)] };
    if (isPattern) patterns.push(entry);
    else byProgram.set(program, [...(byProgram.get(program) ?? []), entry]);
  }
  if (byProgram.size === 0 && patterns.length === 0) return { match: () => undefined };
  return {
    match(fields, certainly) {
      const [first] = fields;
      if (first === undefined) return undefined;
      const name = programName(first.text);
      const candidates = [...(byProgram.get(name) ?? []), ...(byProgram.get(first.text) ?? []), ...patterns];
      return candidates.find((entry) => begins(entry, name, fields, certainly))?.text;
    },
  };
}

function wordMatcher(word: string): (text: string) => boolean {
  return /[*?[]/.test(word) ? globMatcher(word) : (text) => text === word;
}

function begins({ words }: Entry, name: string, fields: readonly Field[], certainly: boolean): boolean {
  return words.every((matches, index) => {
    const field = fields[index];
    if (field === undefined || (certainly && !field.certain)) return false;
    return matches(field.text) || (index === 0 && matches(name));
  });
}
