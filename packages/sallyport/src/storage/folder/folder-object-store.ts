import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObjectName, type ObjectStore } from '../../bridges/object-store.port.ts';

/** Where a file is until it is written to its end: no object has a name that begins with a dot. */
const partialOf = (path: string): string => join(dirname(path), `.${basename(path)}`);

/** Objects as files of a folder, for the user of the layer alone (STA-03). The folder is made when it is first needed. */
export function folderObjectStore(folder: string): ObjectStore {
  const pathOf = (name: string): string => {
    if (!isObjectName(name)) throw new ToolLayerError('E3900', 'The name of an object is not a name.');
    return join(folder, name);
  };
  return {
    put: async (name, bytes) => inFolder('store an object', write(pathOf(name), bytes)),
    get: async (name, size) => inFolder('read an object', read(pathOf(name), size)),
    bringBack: async (name) =>
      inFolder('read an object', exists(pathOf(name))).then((isThere) => (isThere ? 'readable' : undefined)),
    remove: async (name) => inFolder('remove an object', remove(pathOf(name))),
  };
}

/** The file has its name once all its bytes are on the disk: after a power cut it is whole, or not there. */
async function write(path: string, bytes: Uint8Array): Promise<void> {
  const partial = partialOf(path);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await using file = await open(partial, 'w', 0o600);
    await file.writeFile(bytes);
    await file.sync();
    await rename(partial, path);
  } catch (thrown) {
    await rm(partial, { force: true });
    throw thrown;
  }
  await syncFolders(path);
}

/** The folder of the file, and the one that holds this folder, which may be new too. */
async function syncFolders(path: string): Promise<void> {
  for (const folder of [dirname(path), dirname(dirname(path))]) {
    await using opened = await open(folder, 'r');
    await opened.sync();
  }
}

async function read(path: string, size: number): Promise<Uint8Array | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const { size: found } = await file.stat();
    return found === size ? await file.readFile() : undefined;
  } catch (thrown) {
    if (isAbsent(thrown)) return undefined;
    throw thrown;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await using _file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return true;
  } catch (thrown) {
    if (isAbsent(thrown)) return false;
    throw thrown;
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(partialOf(path), { force: true });
}

const codeOf = (thrown: unknown): string => (thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '');

/** A link in the place of a file (ELOOP) is no object. */
const isAbsent = (thrown: unknown): boolean => ['ENOENT', 'ELOOP', 'EISDIR'].includes(codeOf(thrown));

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full. Make room on it',
  EDQUOT: 'the disk quota is used up. Make room',
  EROFS: 'the file system is read only. Make it writable',
  EACCES: 'the user of the layer may not write there. Give that user the folder',
  EPERM: 'the user of the layer may not write there. Give that user the folder',
  ENOTDIR: 'a part of its path is a file',
};

/** @throws ToolLayerError E3823 that says what to change */
async function inFolder<T>(action: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    const code = codeOf(cause);
    const reason = REASONS[code] ?? `the file system said ${code === '' ? 'no' : code}. Look at its state`;
    throw new ToolLayerError('E3823', `The object store could not ${action}: ${reason}. See object_store.folder.`, {
      cause,
    });
  }
}
