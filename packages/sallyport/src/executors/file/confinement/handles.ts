// Node has neither openat nor openat2. On Linux a path below /proc/self/fd/N starts at the very folder that descriptor N
// holds, whatever its name has become since, so one name at a time with O_NOFOLLOW is openat.
import { constants } from 'node:fs';
import { type FileHandle, open, statfs } from 'node:fs/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

const { O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/** For reading what a probe found. */
export const READ = constants.O_RDONLY | O_NONBLOCK | O_NOCTTY;
/** For making a file that must not be there. */
export const MAKE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | O_NOFOLLOW | O_NOCTTY;

/** Kind of file system that /proc is, by statfs. */
const PROC_MAGIC = 0x9fa0;

/** Opens relative to handles. */
export interface Handles {
  /** @throws ToolLayerError E3901 where the platform cannot do this; there is no other way */
  verify(): Promise<void>;
  /** The path of a name within an open folder; empty for the folder itself. */
  at(folder: FileHandle, name?: string): string;
  /** Opens one name in a folder. The flags decide that no link is followed. */
  openAt(folder: FileHandle, name: string, flags: number, mode?: number): Promise<FileHandle>;
  /** Opens what a probe holds, for use. */
  reopen(probe: FileHandle, flags: number): Promise<FileHandle>;
}

/** @param folder where the kernel shows this process's descriptors; only tests give another */
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
