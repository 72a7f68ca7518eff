import type { Stats } from 'node:fs';
import { chown, lstat, mkdir, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../../std/sha256.ts';
import { codeOf, folderError, startError } from './start-problem.ts';

/** PostgreSQL names its socket after this port; nothing listens on TCP. */
export const SOCKET_PORT = 5432;

/** sockaddr_un(7): 104 bytes on macOS, 108 on Linux, with the closing zero. */
const SOCKET_PATH_BYTES_MAX = 103;

/** A private folder for the server's socket. */
export interface SocketFolder {
  readonly path: string;
  /** Removes the folder when it is empty and lies outside the data folder. */
  remove(): Promise<void>;
}

/**
 * Makes the folder for the socket: in the data folder, or, when the path of a socket there would be too long, in the
 * folder for temporary files under a name that follows from the data folder's.
 * @param uid user that the server runs as, when it is not this process's
 * @throws E3812 folder-unusable when somebody else made a folder of this name
 */
export async function openSocketFolder(dataFolder: string, uid: number | undefined): Promise<SocketFolder> {
  const path = socketFolderOf(dataFolder);
  const found = await make(path, uid);
  const owner = uid ?? process.getuid?.();
  if (!found.isDirectory() || found.uid !== owner || (found.mode & 0o077) !== 0) {
    const message = `Socket folder ${path} is not private to this user. Remove it, or set TMPDIR to a folder of this user.`;
    throw startError('folder-unusable', message, { folder: path });
  }
  return { path, remove: () => removeEmpty(path) };
}

async function make(path: string, uid: number | undefined): Promise<Stats> {
  try {
    await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    const found = await lstat(path);
    if (uid === undefined || found.uid === uid || !found.isDirectory()) return found;
    await chown(path, uid, -1);
    return await lstat(path);
  } catch (cause) {
    throw folderError(path, cause);
  }
}

/** Where the socket of a data folder's server lies: in it, or outside of it when its path is too long for a socket. */
export function socketFolderOf(dataFolder: string): string {
  const inside = join(dataFolder, 'socket');
  return fits(inside) ? inside : outside(dataFolder);
}

function outside(dataFolder: string): string {
  const name = `sallyport-${sha256(dataFolder).slice(0, 16)}`;
  const path = join(tmpdir(), name);
  return fits(path) ? path : join('/tmp', name);
}

const fits = (folder: string): boolean =>
  Buffer.byteLength(join(folder, `.s.PGSQL.${SOCKET_PORT}`)) <= SOCKET_PATH_BYTES_MAX;

async function removeEmpty(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
  }
}
