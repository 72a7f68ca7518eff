import { realpathSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import type { FilesystemPermission } from '@sallyport/std/permissions';

/** Host folders that every driver shows. */
const BASE_SYSTEM = /^\/(?:usr|bin|sbin|lib|lib32|lib64|libx32)\//;

/**
 * Read-only mounts needed for a program outside the base system: the folder of its path, and its real folder when that
 * path is a link. None for a program of the base system or for a name looked up in PATH.
 * @param command program and arguments; only the program is read
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
