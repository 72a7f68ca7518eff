import { realpathSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import type { FilesystemPermission } from '@sallyport/std/permissions';

/** What every driver shows of the host anyway. */
const BASE_SYSTEM = /^\/(?:usr|bin|sbin|lib|lib32|lib64|libx32)\//;

/**
 * Read-only mounts without which a program outside the base system would not be there: the folder of its path, and the
 * folder where it really lies when that path is a link. Nothing for a program of the base system or for a name that is looked
 * up in PATH.
 * @param command program and arguments; only the program is looked at
 */
export function runtimeMounts(command: readonly string[]): FilesystemPermission[] {
  const program = command[0];
  if (program === undefined || !isAbsolute(program)) return [];
  const folders = new Set([program, realPath(program)].filter(isOutside).map((path) => dirname(path)));
  return [...folders].map((path) => ({ path, mode: 'ro' }));
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return '';
  }
}

function isOutside(path: string): boolean {
  return path !== '' && !BASE_SYSTEM.test(path) && dirname(path) !== '/';
}
