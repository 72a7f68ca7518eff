import { type FileHandle, lstat, readdir, unlink } from 'node:fs/promises';
import type { FileTask } from './file-task.ts';

/** Ours: see `replaceFile`. */
const LEFTOVER = /^\.[A-Za-z0-9_-]{12}\.sallyport-tmp$/;
/** Age from which nobody writes to it any more, in ms: a write takes seconds at most, also that of another layer. */
const LEFTOVER_AGE_MS = 60_000;
/** Folders that are known to be clean. */
const KNOWN_MAX = 10_000;

/**
 * Removes what a layer that was killed while it wrote left in a folder. A folder is looked through until it is clean, and
 * then not again: this layer leaves nothing. What cannot be removed stays; a write does not fail for it.
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
