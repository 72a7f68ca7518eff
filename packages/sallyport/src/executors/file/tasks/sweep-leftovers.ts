import { type FileHandle, lstat, readdir, unlink } from 'node:fs/promises';
import type { FileTask } from './file-task.ts';

/** Our temporary files: see `replaceFile`. */
const LEFTOVER = /^\.[A-Za-z0-9_-]{12}\.sallyport-tmp$/;
/** Age from which nobody writes to it any more, in ms: a write takes seconds at most, in other layers too. */
const LEFTOVER_AGE_MS = 60_000;
/** Most folders remembered as clean. */
const KNOWN_MAX = 10_000;

/**
 * Removes temporary files that a killed layer left in a folder. A folder is swept until it is clean, and then not
 * again: this layer leaves none. Files that cannot be removed stay, without failing the write.
 */
export async function sweepLeftovers({ handles, bounds, clock, swept }: FileTask, folder: FileHandle): Promise<void> {
  const { dev, ino } = await folder.stat({ bigint: true });
  const key = `${dev}:${ino}`;
  if (swept.has(key)) return;
  const names = await readdir(handles.at(folder)).catch(() => undefined);
  if (names === undefined) return;
  let isClean = true;
  for (const name of names.slice(0, bounds.folderEntriesMax)) {
    if (!LEFTOVER.test(name)) continue;
    const path = handles.at(folder, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isFile() !== true) continue;
    if (clock.now() - stats.mtimeMs < LEFTOVER_AGE_MS) isClean = false;
    else await unlink(path).catch(() => undefined);
  }
  if (!isClean) return;
  if (swept.size >= KNOWN_MAX) swept.clear();
  swept.add(key);
}
