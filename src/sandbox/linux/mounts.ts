import { constants, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, normalize } from 'node:path';
import type { FilesystemPermission } from '../../../api/schemas/tool-manifest.ts';
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';

/** A mount that exists and may be made. */
export interface Mount {
  /** Real path on the host, without symbolic links. */
  readonly source: string;
  /** Where it appears inside. */
  readonly target: string;
  readonly mode: 'ro' | 'rw';
  /** Which file or folder it is, whatever its path: a sandbox that has it keeps it when another takes its place. */
  readonly identity: string;
}

/** The kernel's own file systems; a view of the host's would undo the sandbox. */
const KERNEL_PATH = /^\/(?:proc|sys|dev)(?:\/|$)/;

/**
 * Checks the mounts of a spec and orders them so that a folder comes before what lies in it.
 * @throws E3105 for a path that does not exist or must not be mounted
 */
export function resolveMounts(mounts: readonly FilesystemPermission[]): readonly Mount[] {
  return mounts.map(resolveMount).sort((a, b) => a.target.length - b.target.length);
}

/** Whether all are read-only and any uid may read them, so that a sandbox needs no rights of the layer for them. */
export function areOpenToAll(mounts: readonly Mount[]): boolean {
  return mounts.every(({ source, mode }) => mode === 'ro' && isOpenToAll(source, statSync(source)));
}

function resolveMount({ path, mode }: FilesystemPermission): Mount {
  const target = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  if (!isAbsolute(path) || path.includes('\0') || normalize(target) !== target) {
    throw refused(path, 'is not an absolute path in its shortest form');
  }
  const { source, stats } = look(path);
  if (source === '/') throw refused(path, 'is the whole file system; name the folders that the tool needs');
  if (KERNEL_PATH.test(source) || KERNEL_PATH.test(target)) throw refused(path, 'belongs to the kernel');
  if (!stats.isDirectory() && !stats.isFile()) throw refused(path, 'is neither a folder nor a regular file');
  return {
    source,
    target,
    mode,
    identity: `${stats.dev}:${stats.ino}`,
  };
}

function look(path: string): { source: string; stats: Stats } {
  try {
    const source = realpathSync.native(path);
    return { source, stats: statSync(source) };
  } catch (cause) {
    throw refused(path, 'does not exist or cannot be reached by the layer', cause);
  }
}

function isOpenToAll(source: string, stats: Stats): boolean {
  const needed = stats.isDirectory() ? constants.S_IROTH | constants.S_IXOTH : constants.S_IROTH;
  if ((stats.mode & needed) !== needed) return false;
  for (let folder = dirname(source); folder !== '/'; folder = dirname(folder)) {
    if ((statSync(folder).mode & constants.S_IXOTH) === 0) return false;
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
