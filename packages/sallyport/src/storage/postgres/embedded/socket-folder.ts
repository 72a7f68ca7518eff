import { socketFolderOf as folderOf, makePrivateFolder, removeEmptyFolder } from '@sallyport/std/files/socket-folder';
import { folderError, startError } from './start-problem.ts';

/** PostgreSQL names its socket after this port; nothing listens on TCP. */
export const SOCKET_PORT = 5432;

/** A private folder for the server's socket. */
export interface SocketFolder {
  readonly path: string;
  /** Removes the folder when it is empty. */
  remove(): Promise<void>;
}

/**
 * Creates the folder for the socket.
 * @param uid user that the server runs as, when it is not this process's
 * @throws E3812 folder-unusable when another user made a folder of this name
 */
export async function openSocketFolder(dataFolder: string, uid: number | undefined): Promise<SocketFolder> {
  const path = socketFolderOf(dataFolder);
  const isOurs = await makePrivateFolder(path, uid).catch((cause: unknown) => {
    throw folderError(path, cause);
  });
  if (!isOurs) {
    const message = `Socket folder ${path} is not private to this user. Remove it, or set TMPDIR to a folder of this user.`;
    throw startError('folder-unusable', message, { folder: path });
  }
  return { path, remove: () => removeEmptyFolder(path) };
}

/** Path of the socket of a data folder's server. */
export const socketFolderOf = (dataFolder: string): string => folderOf(dataFolder, 'socket', `.s.PGSQL.${SOCKET_PORT}`);
