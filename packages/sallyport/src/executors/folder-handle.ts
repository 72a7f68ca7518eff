// Node has no openat. A path below /proc/self/fd/N starts at the folder that descriptor N holds, so one name at a time
// with O_NOFOLLOW is equivalent: whatever is swapped meanwhile, nothing outside the folder is touched. Names are bytes,
// kept as text with one character per byte, so that names that are not UTF-8 work too.
import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';

/** Equal on every architecture that Node runs on; Node does not define it. */
const O_PATH = 0o10000000;
/** Holds a file without opening it: FIFOs do not block, devices do not act, links are not followed. */
export const PROBE = O_PATH | constants.O_NOFOLLOW;
/** As PROBE, for folders only. */
export const PROBE_FOLDER = PROBE | constants.O_DIRECTORY;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const MAKE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** A file name as bytes, one character each. */
export type RawName = string;

/** The name decoded for people. */
export const shownName = (name: RawName): string => Buffer.from(name, 'latin1').toString('utf8');

/** A text encoded as a name. */
export const rawName = (text: string): RawName => Buffer.from(text, 'utf8').toString('latin1');

/** The path of a name in an open folder, or of the folder itself. */
export function at({ fd }: FileHandle, name: RawName = ''): Buffer {
  return Buffer.from(`/proc/self/fd/${fd}${name === '' ? '' : `/${name}`}`, 'latin1');
}

/** Opens the folder of that name, never through a link. */
export const openFolder = (folder: FileHandle, name: RawName): Promise<FileHandle> =>
  open(at(folder, name), PROBE_FOLDER);

/** Opens a file for reading, never through a link, and without blocking on special files. */
export const openToRead = (folder: FileHandle, name: RawName): Promise<FileHandle> => open(at(folder, name), READ);

/** Creates a file that must not exist, private to its owner. */
export const makeFile = (folder: FileHandle, name: RawName): Promise<FileHandle> => open(at(folder, name), MAKE, 0o600);

/** Writes all bytes at a position; a write of the system takes fewer where the disk is nearly full. */
export async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
}

/** Opens the folder at an absolute path of real names, from the root. @throws ENOTDIR or ELOOP for a link on the way */
export async function openPath(path: string): Promise<FileHandle> {
  let folder = await open('/', PROBE_FOLDER);
  for (const part of rawName(path).split('/')) {
    if (part === '') continue;
    try {
      const next = await openFolder(folder, part);
      await folder.close();
      folder = next;
    } catch (thrown) {
      await folder.close();
      throw thrown;
    }
  }
  return folder;
}

/** Names in a folder, in the order of their bytes. */
export async function namesIn(folder: FileHandle): Promise<readonly RawName[]> {
  return (await readdir(at(folder), { encoding: 'latin1' })).sort();
}

/** The code of an error of the operating system. */
export const codeOf = (thrown: unknown): string | undefined => (thrown as NodeJS.ErrnoException | null)?.code;
