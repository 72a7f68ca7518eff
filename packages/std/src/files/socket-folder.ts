import type { Stats } from 'node:fs';
import { chown, lstat, mkdir, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../sha256.ts';

/** sockaddr_un(7): 104 bytes on macOS, 108 on Linux, with the closing zero. */
const SOCKET_PATH_BYTES_MAX = 103;

/**
 * Where the sockets of a data folder lie: in a folder of it, or, when the path of a socket there would be too long, in the folder
 * for temporary files, under a name that follows from the data folder's.
 * @param name of the folder inside the data folder
 * @param longest name of a socket in it
 */
export function socketFolderOf(dataFolder: string, name: string, longest: string): string {
  const fits = (folder: string): boolean => Buffer.byteLength(join(folder, longest)) <= SOCKET_PATH_BYTES_MAX;
  const inside = join(dataFolder, name);
  if (fits(inside)) return inside;
  const outside = `sallyport-${sha256(inside).slice(0, 16)}`;
  const path = join(tmpdir(), outside);
  return fits(path) ? path : join('/tmp', outside);
}

/**
 * Makes a folder that nobody but its owner can look into: what lies in it, its owner put there.
 * @param uid owner, when it is not this process's user
 * @returns false when there is something else of this name: a link, a file, or a folder that others may use
 * @throws the file system's error
 */
export async function makePrivateFolder(path: string, uid = process.getuid?.()): Promise<boolean> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await lstat(path);
  if (uid === undefined || found.uid === uid || !isPrivate(found, process.getuid?.())) return isPrivate(found, uid);
  await chown(path, uid, -1);
  return isPrivate(await lstat(path), uid);
}

/** Whether this is a folder that one user alone can look into. */
export function isPrivate(found: Stats, uid: number | undefined): boolean {
  return found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0;
}

/** Removes a folder when it is there and empty. */
export async function removeEmptyFolder(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
