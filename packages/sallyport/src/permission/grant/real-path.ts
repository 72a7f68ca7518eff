import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FilesystemPermission } from '../../../api/schemas/tool-manifest.ts';

/** Target of a normal path with links followed; undefined when it cannot be determined. */
export type RealPath = (path: string) => string | undefined;

/**
 * The path with its links followed as far as it exists; the missing rest is kept. A dangling link has no result:
 * writing through it would create its target.
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

/**
 * Targets of those paths that contain links; undefined for a target that cannot be determined. The map is undefined
 * when no path contains links.
 */
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
