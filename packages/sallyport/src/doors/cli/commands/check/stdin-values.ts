import type { CliIo } from '../../cli-parts.ts';
import { readSource } from '../../input/read-source.ts';
import { usageError } from '../../input/usage-error.ts';

/** Most values that one run judges. */
const VALUES_MAX = 100_000;

/** Standard input as a JSON document, or as plain text when it is not JSON. */
export async function stdinValue(io: CliIo): Promise<unknown> {
  const text = await readSource('-', io);
  if (!/^\s*[{["]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The non-empty lines of standard input, or the texts of a JSON list; each is judged on its own. */
export async function stdinTexts(io: CliIo): Promise<readonly string[]> {
  const value = await stdinValue(io);
  const list = typeof value === 'string' ? value.split(/\r?\n/).filter((line) => line.trim() !== '') : value;
  if (!Array.isArray(list) || !list.every((each) => typeof each === 'string')) {
    throw usageError('Give one text on each line, or a JSON list of texts.');
  }
  if (list.length === 0) throw usageError('There is nothing on standard input.');
  if (list.length > VALUES_MAX) throw usageError(`Give at most ${VALUES_MAX} at once.`);
  return list as string[];
}
