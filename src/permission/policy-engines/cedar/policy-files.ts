import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import { KiB } from '../../../std/bytes.ts';
import { DEFAULT_POLICY_FILE, defaultPolicies } from './default-policies.ts';

/** One `*.cedar` file. */
export interface PolicyFile {
  readonly name: string;
  readonly text: string;
}

/** Files in a policy folder. */
const FILES_MAX = 1000;
/** Characters of all of them together. */
const TEXT_MAX = 4096 * KiB;

/**
 * Reads the `*.cedar` files of a folder in the order of their names. A folder without any gets the default one.
 * @throws E3900 naming the folder when it cannot be read or holds too much
 */
export async function readPolicyFiles(folder: string): Promise<readonly PolicyFile[]> {
  try {
    await mkdir(folder, { recursive: true });
    const names = (await readdir(folder)).filter((name) => name.endsWith('.cedar')).sort();
    if (names.length === 0) {
      await writeFile(join(folder, DEFAULT_POLICY_FILE), defaultPolicies(), { flag: 'a' });
      return [{ name: DEFAULT_POLICY_FILE, text: defaultPolicies() }];
    }
    if (names.length > FILES_MAX) throw tooMuch(folder);
    const files = await Promise.all(
      names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })),
    );
    if (files.reduce((sum, { text }) => sum + text.length, 0) > TEXT_MAX) throw tooMuch(folder);
    return files;
  } catch (cause) {
    if (cause instanceof ToolLayerError) throw cause;
    throw new ToolLayerError('E3900', `The policy folder ${folder} cannot be read. Check its permissions.`, { cause });
  }
}

function tooMuch(folder: string): ToolLayerError {
  return new ToolLayerError(
    'E3900',
    `The policy folder ${folder} holds more than ${FILES_MAX} files or ${TEXT_MAX} characters.`,
  );
}
