import { randomBytes } from 'node:crypto';
import { lstat, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isPrivate, makePrivateFolder, removeEmptyFolder, socketFolderOf } from '@sallyport/std/files/socket-folder';
import { isAlive } from './running-layer-file.ts';

/** Name of a socket: the id of the listening process, and a random part for several layers of one process. */
const NAME = /^(\d+)-[0-9a-f]{8}\.sock$/;
const LONGEST_NAME = `${2 ** 22}-00000000.sock`;

/** Folder of the socket on which a layer takes requests of its operator; it may be outside the data folder. */
export const localSocketFolder = (dataFolder: string): string => socketFolderOf(dataFolder, 'local', LONGEST_NAME);

/** A socket name in a folder that only this user can read. */
export interface LocalSocket {
  readonly path: string;
  /** Removes the folder when nothing else is in it. */
  close(): Promise<void>;
}

/**
 * Finds a free name, and removes the sockets of dead processes.
 * @throws ToolLayerError E3900 when others may read the folder, or when it cannot be made
 */
export async function openLocalSocket(dataFolder: string): Promise<LocalSocket> {
  const folder = localSocketFolder(dataFolder);
  const isOurs = await makePrivateFolder(folder).catch((cause: unknown) => {
    throw new ToolLayerError('E3900', `The folder of the local socket, ${folder}, cannot be made.`, { cause });
  });
  if (!isOurs) {
    throw new ToolLayerError(
      'E3900',
      `The folder of the local socket, ${folder}, is not private to this user. Remove it, or set TMPDIR to a folder of this user.`,
    );
  }
  await removeStale(folder);
  const path = join(folder, `${process.pid}-${randomBytes(4).toString('hex')}.sock`);
  return { path, close: () => removeEmptyFolder(folder) };
}

async function removeStale(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = NAME.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(folder, name), { force: true });
  }
}

/** True when the socket still belongs to the data folder's owner, so that nobody else can have replaced it. */
export async function isOwnersSocket(dataFolder: string, socket: string): Promise<boolean> {
  try {
    const [{ uid }, folder] = await Promise.all([lstat(dataFolder), lstat(dirname(socket))]);
    return isPrivate(folder, uid);
  } catch {
    return false;
  }
}
