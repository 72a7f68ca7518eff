import type { Stats } from 'node:fs';
import { chown, lstat, mkdir, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../sha256.ts';

/** sockaddr_un(7): 104 bytes on macOS, 108 on Linux, with the closing zero. */
const SOCKET_PATH_BYTES_MAX = 103;

/**
 * Folder for the sockets of a data folder: inside it, or, when the path of a socket there would be too long, in the
 * folder for temporary files, under a name derived from the data folder's.
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
 * Makes a folder that only its owner can access, so that its content comes from the owner.
 * @param uid owner, when it is not this process's user
 * @returns false when something else has this name: a link, a file, or a folder that others may use
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

/** True for a folder that only one user can access. */
export function isPrivate(found: Stats, uid: number | undefined): boolean {
  return found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0;
}

/** Removes a folder when it exists and is empty. */
export async function removeEmptyFolder(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
