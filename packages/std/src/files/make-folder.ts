import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and its missing parents, private to the owner. An existing folder is accepted. Unlike the platform's
 * recursive mkdir it terminates where a file system refuses new folders with ENOENT, as /proc does.
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

/** The error when the parent folder is missing; undefined when the folder exists. */
async function tryToMake(path: string): Promise<Error | undefined> {
  try {
    await mkdir(path, { mode: 0o700 });
    return undefined;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // A file at its path is noticed when the folder is used.
    if (code === 'EEXIST') return undefined;
    if (code === 'ENOENT') return cause as Error;
    throw cause;
  }
}
