import { statSync } from 'node:fs';
import type { Mount } from '../../../linux/mounts.ts';

/** Folders that are made inside. */
const MADE = /^\/(?:tmp|dev|dev\/shm|proc|sys|etc|run)?$/;

/**
 * True when a folder will exist inside. gVisor creates a missing working directory, so this is checked before.
 * @param shown host paths that every tool sees under the same name
 */
export function isFolderInside(path: string, mounts: readonly Mount[], shown: readonly string[]): boolean {
  if (MADE.test(path)) return true;
  if (!path.startsWith('/')) return false;
  if (mounts.some((mount) => isWithin(path, mount.path))) return isFolder(path);
  if (mounts.some((mount) => isWithin(mount.path, path))) return true;
  const links = ['/bin', '/sbin', '/lib', '/lib32', '/lib64'];
  return [...shown, ...links].some((folder) => isWithin(path, folder)) && isFolder(path);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
