import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder, and those above it that are missing, for the owner alone. A folder that is there already is fine.
 * Unlike the platform's recursive mkdir it ends where a file system refuses new folders with ENOENT, as /proc does.
 * @throws the file system's error
 */
export async function makeFolder(path: string): Promise<void> {
  const missing = await tryToMake(path);
  if (missing === undefined) return;
  if (dirname(path) === path) throw missing;
  await makeFolder(dirname(path));
  const still = await tryToMake(path);
  if (still !== undefined) throw still;
}

/** The error when a folder above is missing; undefined when the folder is there. */
async function tryToMake(path: string): Promise<Error | undefined> {
  try {
    await mkdir(path, { mode: 0o700 });
    return undefined;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // A file in its place shows when the folder is used.
    if (code === 'EEXIST') return undefined;
    if (code === 'ENOENT') return cause as Error;
    throw cause;
  }
}
