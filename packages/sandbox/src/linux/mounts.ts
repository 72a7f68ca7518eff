import { type BigIntStats, constants, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, normalize } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { FilesystemPermission } from '@sallyport/std/permissions';
import type { LimitName } from '../driver.port.ts';

/**
 * A file or folder of the host that may be mounted, as it was when it was looked at. A tool that may write around it can put
 * another, or a link, in its place at any time: what is mounted in the end is opened name by name and compared with this
 * (`stage/`).
 */
export interface Mount {
  /** Real path, without symbolic links; inside it has the same name. */
  readonly path: string;
  readonly mode: 'ro' | 'rw';
  /** Which file or folder it is, whatever its path: `device:inode`. */
  readonly identity: string;
  readonly isFolder: boolean;
  /** Read-only, and any uid may read it by its path, so that no rights of the layer are needed for it. */
  readonly isOpenToAll: boolean;
  readonly owner: Owner;
  /** Set for what is the layer's own; it may lie in what is covered. */
  readonly isOwn?: boolean;
}

/** Uid and gid of a file. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Limits that are weaker for a tool with a writable folder: nothing here bounds what a folder of the host holds in all. */
export const WEAKER_WITH_FOLDERS: readonly LimitName[] = ['disk'];

/** The same as a sentence for the operator. */
export const FOLDERS_GROW =
  'What a tool writes into its folders is bounded for each file, not in all: keep them on a file system of their own, or under a quota.';

/** Whether any of them can grow. */
export function anyWritable(mounts: readonly Pick<FilesystemPermission, 'mode'>[]): boolean {
  return mounts.some(({ mode }) => mode === 'rw');
}

/** The kernel's own file systems; a view of the host's would undo the sandbox. */
const KERNEL_PATH = /^\/(?:proc|sys|dev)(?:\/|$)/;

/**
 * Checks the mounts of a spec and orders them so that a folder comes before what lies in it.
 * @throws E3105 for a path that does not exist, leads through a link, or must not be mounted
 */
export function resolveMounts(mounts: readonly FilesystemPermission[]): readonly Mount[] {
  const found = new Map<string, Mount>();
  for (const mount of mounts.map(resolveMount)) {
    // Of two for one path the later holds, as of two bind mounts.
    found.set(mount.path, mount);
  }
  return [...found.values()].sort(byLength);
}

/**
 * The mounts, and the folders of the base system that some of them lie in: what is mounted in those has to be mounted by
 * descriptor too.
 * @param shown paths of the host that every tool sees, read-only
 */
export function withSurroundings(mounts: readonly Mount[], shown: readonly string[]): readonly Mount[] {
  const around = shown.filter((folder) => mounts.some(({ path }) => path.startsWith(`${folder}/`)));
  if (around.length === 0) return mounts;
  const own = new Set(mounts.map(({ path }) => path));
  const added = around.filter((path) => !own.has(path) && realpathSync.native(path) === path);
  const open = added.map((path): Mount => ({ ...resolveMount({ path, mode: 'ro' }), isOpenToAll: true }));
  return [...mounts, ...open].sort(byLength);
}

const byLength = (a: Mount, b: Mount): number => a.path.length - b.path.length;

function resolveMount({ path: given, mode }: FilesystemPermission): Mount {
  const path = given.length > 1 && given.endsWith('/') ? given.slice(0, -1) : given;
  if (!isAbsolute(path) || path.includes('\0') || normalize(path) !== path) {
    throw refused(given, 'is not an absolute path in its shortest form');
  }
  const { real, stats } = look(path);
  if (path === '/' || real === '/')
    throw refused(given, 'is the whole file system; name the folders that the tool needs');
  if (KERNEL_PATH.test(path) || KERNEL_PATH.test(real)) throw refused(given, 'belongs to the kernel');
  if (real !== path || stats.isSymbolicLink()) throw refused(given, `is reached through a link. Grant its real path`);
  if (!stats.isDirectory() && !stats.isFile()) throw refused(given, 'is neither a folder nor a regular file');
  return {
    path,
    mode,
    identity: `${stats.dev}:${stats.ino}`,
    isFolder: stats.isDirectory(),
    isOpenToAll: mode === 'ro' && isOpenToAll(path, stats),
    owner: { uid: Number(stats.uid), gid: Number(stats.gid) },
  };
}

function look(path: string): { real: string; stats: BigIntStats } {
  try {
    return { real: realpathSync.native(path), stats: lstatSync(path, { bigint: true }) };
  } catch (cause) {
    throw refused(path, 'does not exist or cannot be reached by the layer', cause);
  }
}

function isOpenToAll(path: string, stats: BigIntStats): boolean {
  const needed = stats.isDirectory() ? constants.S_IROTH | constants.S_IXOTH : constants.S_IROTH;
  if ((Number(stats.mode) & needed) !== needed) return false;
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) {
    const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & constants.S_IXOTH) === 0) return false;
  }
  return true;
}

function refused(path: string, why: string, cause?: unknown): ToolLayerError {
  const shown = path.replaceAll('\0', '\\0');
  return new ToolLayerError('E3105', `The sandbox cannot see ${shown}: it ${why}.`, {
    details: { path: shown },
    cause,
  });
}
