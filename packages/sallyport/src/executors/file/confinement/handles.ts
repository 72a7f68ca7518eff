// Node has neither openat nor openat2. On Linux a path below /proc/self/fd/N starts at the folder that descriptor N
// holds, even after a rename, so one name at a time with O_NOFOLLOW is equivalent to openat.
import { constants } from 'node:fs';
import { type FileHandle, open, statfs } from 'node:fs/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

const { O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/** Flags for reading a probed file. */
export const READ = constants.O_RDONLY | O_NONBLOCK | O_NOCTTY;
/** Flags for creating a file that must not exist. */
export const MAKE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | O_NOFOLLOW | O_NOCTTY;

/** Type of the /proc file system, from statfs. */
const PROC_MAGIC = 0x9fa0;

/** Opens files relative to handles. */
export interface Handles {
  /** @throws ToolLayerError E3901 when the platform does not support this; there is no other way */
  verify(): Promise<void>;
  /** The path of a name within an open folder; empty for the folder itself. */
  at(folder: FileHandle, name?: string): string;
  /** Opens one name in a folder. With the given flags links are not followed. */
  openAt(folder: FileHandle, name: string, flags: number, mode?: number): Promise<FileHandle>;
  /** Reopens the file of a probe, for use. */
  reopen(probe: FileHandle, flags: number): Promise<FileHandle>;
}

/** @param folder where the kernel shows this process's descriptors; overridden only by tests */
export function createHandles(folder = '/proc/self/fd'): Handles {
  let verified = false;
  const at = (handle: FileHandle, name = ''): string => `${folder}/${handle.fd}${name === '' ? '' : `/${name}`}`;
  return {
    async verify() {
      if (verified) return;
      const kind = process.platform === 'linux' ? await statfs(folder).catch(() => undefined) : undefined;
      if (kind?.type !== PROC_MAGIC) throw unsupported();
      verified = true;
    },
    at,
    openAt: (handle, name, flags, mode) => open(at(handle, name), flags, mode),
    reopen: (probe, flags) => open(at(probe), flags),
  };
}

const unsupported = (): ToolLayerError =>
  new ToolLayerError(
    'E3901',
    'File tools need Linux with /proc mounted: without it a path cannot be held between check and use. Run the layer where /proc is.',
  );
