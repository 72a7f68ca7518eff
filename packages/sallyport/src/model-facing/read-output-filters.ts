import { readSmallText } from '@sallyport/std/files/read-small-text';
import { Type } from 'typebox';
import { fileFault, parseTomlAs } from '../domain/settings/toml-file.ts';
import type { OutputFilter } from './output-filter.ts';
import { DeclaredFilter, declaredFilter } from './results/declared-filter.ts';

const File = Type.Object({ filter: Type.Optional(Type.Array(DeclaredFilter)) }, { additionalProperties: false });

/**
 * Reads the `[[filter]]` tables of a file, in their order (MOD-06).
 * @returns none when there is no such file
 * @throws ToolLayerError E3801 naming the file and what is wrong in it
 */
export async function readOutputFilters(path: string): Promise<readonly OutputFilter[]> {
  const fault = fileFault('file of output filters', path);
  const text = await readSmallText(path, fault);
  const { filter = [] } = text === undefined ? {} : parseTomlAs(text, File, fault);
  return filter.map((declared) => {
    try {
      return declaredFilter(declared);
    } catch (cause) {
      throw fault(`has a fault in the filter ${declared.id}: ${(cause as Error).message}`, cause);
    }
  });
}
