import { readFile } from 'node:fs/promises';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { parse } from 'smol-toml';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { OutputFilter } from './output-filter.ts';
import { DeclaredFilter, declaredFilter } from './results/declared-filter.ts';

/** Characters of a file. */
const TEXT_MAX = 256 * KiB;
/** Faults that a message names. */
const NAMED_MAX = 5;

const File = Type.Object({ filter: Type.Optional(Type.Array(DeclaredFilter)) }, { additionalProperties: false });

/**
 * Reads the `[[filter]]` tables of a file, in their order (MOD-06).
 * @returns none when there is no such file
 * @throws ToolLayerError E3801 naming the file and what is wrong in it
 */
export async function readOutputFilters(path: string): Promise<readonly OutputFilter[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw faulty(path, 'cannot be read', cause);
  }
  if (text.length > TEXT_MAX) throw faulty(path, `has more than ${TEXT_MAX} characters`);
  let values: unknown;
  try {
    values = parse(text);
  } catch (cause) {
    throw faulty(path, 'is not TOML', cause);
  }
  const faults = Compile(File)
    .Errors(values)
    .map(({ instancePath, message }) => `${instancePath} ${message}`);
  if (faults.length > 0) throw faulty(path, `has faults: ${faults.slice(0, NAMED_MAX).join('; ')}`);
  return ((values as Static<typeof File>).filter ?? []).map((declared) => {
    try {
      return declaredFilter(declared);
    } catch (cause) {
      throw faulty(path, `has a fault in the filter ${declared.id}: ${(cause as Error).message}`, cause);
    }
  });
}

const faulty = (path: string, what: string, cause?: unknown): ToolLayerError =>
  new ToolLayerError('E3801', `The file of output filters ${path} ${what}.`, { cause });
