import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../project-files.ts';

/** How long compiled code is kept, in ms. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/**
 * The folder in which Node keeps the code that it has compiled, for the processes of later tests. Each run loads the files of
 * tests under new names, so what was written more than a day ago is removed.
 */
export function compiledCodeFolder(folder = join(ROOT, 'node_modules/.cache/sallyport/compiled')): string {
  mkdirSync(folder, { recursive: true });
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isOld = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > KEPT_MS;
    if (entry.isFile() && isOld) rmSync(path, { force: true });
  }
  return folder;
}
