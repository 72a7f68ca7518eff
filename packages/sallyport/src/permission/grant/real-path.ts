import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FilesystemPermission } from '../../../api/schemas/tool-manifest.ts';

/** Where a normal path leads when links are followed; undefined when that cannot be told. */
export type RealPath = (path: string) => string | undefined;

/**
 * The path with its links followed as far as it exists; what does not exist is kept as it is. A link that leads nowhere
 * cannot be told: what is made through it would be made at its target.
 */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || path === '/') return undefined;
  }
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return undefined;
  const parent = realPathOf(dirname(path));
  return parent === undefined ? undefined : join(parent, basename(path));
}

/** Where those of the paths lead that lead elsewhere, undefined where that cannot be told. Undefined when all are what they say. */
export function linksAmong(
  paths: readonly FilesystemPermission[],
  realPath: RealPath,
): ReadonlyMap<string, string | undefined> | undefined {
  let links: Map<string, string | undefined> | undefined;
  for (const { path } of paths) {
    const real = realPath(path);
    if (real === path) continue;
    links ??= new Map();
    links.set(path, real);
  }
  return links;
}
